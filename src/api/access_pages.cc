#include "src/api/access_pages.h"

#include "src/base/text.h"

namespace strobe::api {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/sign-in/page.css">
)";

constexpr std::string_view kSignIn = R"(<title>Sign in - Strobe</title>
<script src="/sign-in/page.js" defer></script></head>
<body><main>
<h1>Strobe</h1>
<p id="who" hidden></p>
<p id="error" role="alert" hidden></p>
<form id="password-form" hidden>
<label>Name<input id="user" name="user" autocomplete="username" autocapitalize="none"
 spellcheck="false" required></label>
<label>Password<input id="password" name="password" type="password"
 autocomplete="current-password" required></label>
<button type="submit">Sign in</button>
<button type="button" id="to-code" class="quiet">I have a one-time code</button>
</form>
<form id="code-form" hidden>
<label>Name<input id="code-user" name="user" autocomplete="username" autocapitalize="none"
 spellcheck="false" required></label>
<label>One-time code<input id="code" name="code" autocomplete="one-time-code" spellcheck="false"
 required></label>
<label>New password, at least 12 characters<input id="new-password" name="new_password"
 type="password" autocomplete="new-password" minlength="12" required></label>
<button type="submit">Set password and sign in</button>
<button type="button" id="to-password" class="quiet">I have a password</button>
</form>
<p id="provider" hidden><a id="provider-link" class="button" href="/sign-in/oidc">Sign in</a></p>
<p id="contact" class="hint" hidden></p>
<noscript><p>This page needs JavaScript.</p></noscript>
</main></body></html>
)";

constexpr std::string_view kScript = R"('use strict';
const show = (id, on) => { document.getElementById(id).hidden = !on; };
const text = (id, value) => { const e = document.getElementById(id); e.textContent = value; e.hidden = !value; };
const value = (id) => document.getElementById(id).value;
// Only addresses of this server: a foreign one would make this page a way to lead people astray.
const back = () => {
  const wanted = new URLSearchParams(location.search).get('return') || '/';
  let url;
  try { url = new URL(wanted, location.origin); } catch { return '/'; }
  return url.origin === location.origin && wanted.startsWith('/') ? url.pathname + url.search + url.hash : '/';
};
async function send(body) {
  text('error', '');
  let answer;
  try {
    answer = await fetch('/api/v1/sign-in', {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
    });
  } catch { text('error', 'The server cannot be reached.'); return; }
  if (answer.ok) { location.replace(back()); return; }
  const said = await answer.json().catch(() => null);
  const error = said && said.error;
  text('error', error ? [error.message, error.hint].filter(Boolean).join(' ') : 'The sign-in failed.');
}
function chooseForm(code) { show('code-form', code); show('password-form', !code); }
async function start() {
  document.getElementById('password-form').addEventListener('submit', (event) => {
    event.preventDefault();
    send({ user: value('user'), password: value('password') });
  });
  document.getElementById('code-form').addEventListener('submit', (event) => {
    event.preventDefault();
    send({ user: value('code-user'), code: value('code').trim(), new_password: value('new-password') });
  });
  document.getElementById('to-code').addEventListener('click', () => chooseForm(true));
  document.getElementById('to-password').addEventListener('click', () => chooseForm(false));
  const ways = await fetch('/api/v1/sign-in').then((answer) => answer.json()).catch(() => null);
  if (!ways) { text('error', 'The server cannot be reached.'); return; }
  if (ways.signed_in_as) text('who', 'You are signed in as ' + ways.signed_in_as + '.');
  if (!ways.needed) { location.replace(back()); return; }
  chooseForm(false);
  if (ways.provider) {
    const link = document.getElementById('provider-link');
    link.textContent = 'Sign in with ' + ways.provider;
    link.href = '/sign-in/oidc?return=' + encodeURIComponent(back());
    show('provider', true);
  }
  text('contact', ways.contact || '');
  const problem = new URLSearchParams(location.search).get('problem');
  if (problem) text('error', 'The sign-in with the provider failed (' + problem.slice(0, 64) + ').');
  document.getElementById('user').focus();
}
start();
)";

constexpr std::string_view kStyle =
    R"(:root { color-scheme: light dark; --page: #f6f7f9; --card: #fff; --text: #14181f; --quiet: #566070;
  --line: #c9cfd8; --accent: #2557d6; --on-accent: #fff; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --page: #0e1116; --card: #171b22; --text: #e6e9ee; --quiet: #9aa4b2;
  --line: #39414d; --accent: #86a8ff; --on-accent: #0e1116; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
main { width: min(24rem, calc(100vw - 2rem)); padding: 1.5rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; }
h1 { margin: 0 0 1rem; font-size: 1.25rem; }
label { display: block; margin-bottom: .75rem; color: var(--quiet); }
input { display: block; width: 100%; margin-top: .25rem; padding: .5rem; font: inherit; color: var(--text);
  background: var(--page); border: 1px solid var(--line); border-radius: 4px; }
button, .button { display: block; width: 100%; padding: .5rem; font: inherit; text-align: center; text-decoration: none;
  color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: 4px; cursor: pointer; }
button.quiet { margin-top: .5rem; color: var(--accent); background: transparent; border-color: transparent; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
[role=alert] { color: var(--bad); }
.hint { color: var(--quiet); }
[hidden] { display: none; }
)";

Response Page(std::string_view type, std::string text, int status = 200) {
  Response response;
  response.status = status;
  response.content_type = std::string(type);
  response.body = std::make_shared<const std::string>(std::move(text));
  response.cache_control = status == 200 ? "no-cache" : "no-store";
  response.revalidate = status == 200;
  return response;
}

}  // namespace

Response SignInPage() {
  return Page("text/html; charset=utf-8", std::string(kHead) + std::string(kSignIn));
}

Response SignInScript() { return Page("text/javascript; charset=utf-8", std::string(kScript)); }

Response SignInStyle() { return Page("text/css; charset=utf-8", std::string(kStyle)); }

Response RefusalPage(int status, std::string_view title, std::string_view message,
                     std::string_view hint) {
  std::string html(kHead);
  html += "<title>" + EscapeHtml(title) + " - Strobe</title></head>\n<body><main>\n<h1>" +
          EscapeHtml(title) + "</h1>\n<p>" + EscapeHtml(message) + "</p>\n<p class=\"hint\">" +
          EscapeHtml(hint) + "</p>\n<p><a class=\"button\" href=\"/\">Open Strobe</a></p>\n" +
          "</main></body></html>\n";
  return Page("text/html; charset=utf-8", std::move(html), status);
}

}  // namespace strobe::api
