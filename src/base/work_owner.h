// For whom this thread works: the user whose share of the threads the work is taken from.
//
//   const WorkOwner::Scope scope("user:ada");       // until the end of the block
//   executor.Submit(Executor::Priority::kInteractive, Step);   // counted for ada
//   WorkOwner::Current();                           // "user:ada"
//
// An Executor opens a scope around each task for whoever submitted it, so that what a task submits
// is the same user's. Without a scope the owner is "": the program itself. Cost: a thread-local
// text, copied once a scope.
#pragma once

#include <string>
#include <utility>

namespace strobe {

class WorkOwner {
 public:
  static const std::string& Current() { return Slot(); }

  // Scopes nest; the innermost counts.
  class Scope {
   public:
    explicit Scope(std::string user) : outer_(std::exchange(Slot(), std::move(user))) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { Slot() = std::move(outer_); }

   private:
    std::string outer_;
  };

 private:
  static std::string& Slot() {
    thread_local std::string owner;
    return owner;
  }
};

}  // namespace strobe
