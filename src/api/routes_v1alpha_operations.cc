// Operations of the ML Diagnostics API: get, list, cancel, delete.
#include <fmt/format.h>

#include "src/api/run_captures.h"
#include "src/api/v1alpha_support.h"
#include "src/catalog/audit.h"

namespace strobe::api {
namespace {

using catalog::Operation;
using catalog::Transaction;
using Context = std::shared_ptr<AppContext>;

Result<Response> GetOperation(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  std::string json;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(const Operation operation, transaction.Get<Operation>(KeyOf(request)));
    json = OperationResourceJson(operation);
    return OkStatus();
  }));
  return MlResponse(std::move(json));
}

Result<Response> ListOperations(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  STROBE_ASSIGN_OR_RETURN(const catalog::ListQuery query,
                          ListQueryOf(request, KeyOf(request), kDefaultPageSizeEvents));
  catalog::Page<Operation> page;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(page, transaction.List<Operation>(query));
    return OkStatus();
  }));
  std::vector<std::string> items;
  for (const Operation& operation : page.items) items.push_back(OperationResourceJson(operation));
  return MlResponse(ListJson("operations", items, page.next_page_token));
}

// Cancelling what is done changes nothing and is no error, as with Google's.
Result<Response> CancelOperation(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  bool running = false;
  Operation operation;
  const auto change = [&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(operation, transaction.Get<Operation>(KeyOf(request)));
    running = operation.done == 0;
    if (!running || operation.cancel_requested != 0) return OkStatus();
    operation.cancel_requested = 1;
    return transaction.Update(operation);
  };
  STROBE_RETURN_IF_ERROR(catalog::WriteAudited(*catalog, request.trail.get(), change));
  if (running && context->run_captures != nullptr) context->run_captures->Cancel(operation.id);
  return MlResponse("{}");
}

Result<Response> DeleteOperation(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  const auto change = [&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(const Operation operation, transaction.Get<Operation>(KeyOf(request)));
    if (operation.done == 0) {
      return FailedPreconditionError("OPERATION_RUNNING", "The operation is not done yet.")
          .Where(operation.id)
          .Hint("Cancel it and wait until it is done.");
    }
    return transaction.Delete<Operation>(operation.key());
  };
  STROBE_RETURN_IF_ERROR(catalog::WriteAudited(*catalog, request.trail.get(), change));
  return MlResponse("{}");
}

}  // namespace

void AddV1alphaOperationRoutes(const Context& context, std::vector<Route>* routes) {
  const std::string operations = "/v1alpha/projects/{project}/locations/{location}/operations";
  routes->push_back(MlRoute({.pattern = operations,
                             .access = {Need::kView, Object::kProject},
                             .operation_id = "mlListOperations",
                             .summary = "Operations, newest first.",
                             .query = MlListQueries(),
                             .response_schema = "MlMessage"},
                            [context](const Request& r) { return ListOperations(context, r); }));
  routes->push_back(MlRoute({.pattern = operations + "/{id}",
                             .access = {Need::kView, Object::kProject},
                             .operation_id = "mlGetOperation",
                             .summary = "One operation.",
                             .response_schema = "MlOperation"},
                            [context](const Request& r) { return GetOperation(context, r); }));
  routes->push_back(MlRoute({.method = Method::kPost,
                             .pattern = operations + "/{id}:cancel",
                             .access = {Need::kEdit, Object::kProject, Audit::kAlways},
                             .operation_id = "mlCancelOperation",
                             .summary = "Ask an operation to stop.",
                             .response_schema = "MlMessage"},
                            [context](const Request& r) { return CancelOperation(context, r); }));
  routes->push_back(MlRoute({.method = Method::kDelete,
                             .pattern = operations + "/{id}",
                             .access = {Need::kEdit, Object::kProject, Audit::kAlways},
                             .operation_id = "mlDeleteOperation",
                             .summary = "Forget an operation that is done.",
                             .response_schema = "MlMessage"},
                            [context](const Request& r) { return DeleteOperation(context, r); }));
}

}  // namespace strobe::api
