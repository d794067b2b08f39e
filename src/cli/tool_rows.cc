#include "src/cli/tool_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace strobe::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

uint64_t CountIn(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

class AllRows {
 public:
  AllRows(ApiClient* client, std::string target, const std::function<void(std::string_view)>& print,
          uint64_t page_rows, uint64_t most_rows)
      : client_(client),
        target_(std::move(target)),
        print_(print),
        page_rows_(page_rows),
        most_rows_(most_rows) {}

  Result<RowsPrinted> Run() {
    STROBE_ASSIGN_OR_RETURN(std::string body, Page("", 0));
    const Json answer = Json::parse(body, nullptr, false);
    if (!HasMore(answer)) {
      print_(body + "\n");
      return printed_;
    }
    body = std::string();
    std::string before = "{";
    for (const auto& [name, value] : answer.items()) {
      print_(before + Text(name) + ":");
      before = ",";
      if (name != "tables") {
        print_(Text(value));
        continue;
      }
      for (size_t t = 0; t < value.size(); ++t) {
        print_(t == 0 ? "[" : ",");
        STROBE_RETURN_IF_ERROR(PrintTable(value[t], t));
      }
      print_("]");
    }
    print_("}\n");
    return printed_;
  }

 private:
  static Status Broken() {
    return InternalError("SERVER_ANSWER_BROKEN", "A page of the table cannot be read.");
  }

  Result<std::string> Page(const std::string& table, uint64_t offset) {
    std::string target = target_ + (target_.find('?') == std::string::npos ? "?" : "&") +
                         "limit=" + std::to_string(page_rows_);
    if (!table.empty()) target += "&table=" + PercentEncode(table);
    if (offset > 0) target += "&offset=" + std::to_string(offset);
    STROBE_ASSIGN_OR_RETURN(ApiReply reply, client_->Get(target));
    return std::move(reply.body);
  }

  static bool HasMore(const Json& answer) {
    if (!answer.is_object() || !answer.contains("tables") || !answer["tables"].is_array()) {
      return false;
    }
    for (const Json& table : answer["tables"]) {
      if (table.contains("rows") && CountIn(table, "row_count") > table["rows"].size()) return true;
    }
    return false;
  }

  // Every member as the first page has it, but with all rows and their number as the limit.
  Status PrintTable(const Json& table, size_t index) {
    const uint64_t total = CountIn(table, "row_count");
    const uint64_t wanted = std::min(total, most_rows_);
    std::string before = "{";
    for (const auto& [name, value] : table.items()) {
      print_(before + Text(name) + ":");
      before = ",";
      if (name == "rows") {
        STROBE_RETURN_IF_ERROR(PrintRows(value, index, wanted));
      } else {
        print_(name == "limit" ? std::to_string(wanted) : Text(value));
      }
    }
    print_("}");
    printed_.left_out += total - wanted;
    return OkStatus();
  }

  Status PrintRows(const Json& first, size_t index, uint64_t wanted) {
    print_("[");
    uint64_t done = PrintPage(first, 0, wanted);
    while (done < wanted) {
      STROBE_ASSIGN_OR_RETURN(const std::string body, Page(std::to_string(index), done));
      const Json answer = Json::parse(body, nullptr, false);
      if (!answer.is_object() || !answer.contains("tables") || answer["tables"].size() != 1) {
        return Broken();
      }
      const Json& rows = answer["tables"][0]["rows"];
      if (!rows.is_array() || rows.empty()) return Broken();
      done = PrintPage(rows, done, wanted);
    }
    print_("]");
    printed_.rows += done;
    return OkStatus();
  }

  uint64_t PrintPage(const Json& rows, uint64_t done, uint64_t wanted) {
    std::string text;
    for (const Json& row : rows) {
      if (done >= wanted) break;
      if (done++ > 0) text += ",";
      text += Text(row);
    }
    print_(text);
    return done;
  }

  ApiClient* const client_;
  const std::string target_;
  const std::function<void(std::string_view)>& print_;
  const uint64_t page_rows_;
  const uint64_t most_rows_;
  RowsPrinted printed_;
};

}  // namespace

Result<RowsPrinted> PrintAllRows(ApiClient* client, const std::string& target,
                                 const std::function<void(std::string_view)>& print,
                                 uint64_t page_rows, uint64_t most_rows) {
  return AllRows(client, target, print, page_rows, most_rows).Run();
}

}  // namespace strobe::cli
