// The pages that must work for those who are not signed in: the sign-in, and the one that says why
// a link opens nothing. Plain HTML with files of ours beside it: the strict content policy holds.
#pragma once

#include <string>
#include <string_view>

#include "src/api/response.h"

namespace strobe::api {

Response SignInPage();
Response SignInScript();
Response SignInStyle();
// `title`, `message` and `hint` are shown as text, whatever they hold.
Response RefusalPage(int status, std::string_view title, std::string_view message,
                     std::string_view hint);

}  // namespace strobe::api
