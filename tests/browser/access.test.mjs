// Access control in Chromium: a real server that asks who one is. An administrator manages people, groups, roles, service accounts, tokens and
// links; others see what is theirs and nothing that would be refused; links open what they are for and nothing beside it.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT, samples, startBrowser, startServer, temporaryDirectory } from './harness.mjs';

const PASSWORD = 'correct horse battery';
const CONTACT = 'Ask ops@example.com.';
let server;
let browser;
let ada; // The administrator, as a program.
let vision; // Folder of the project.
const cookies = new Map(); // Of those who signed in: a server takes only some sign-ins a minute from one address.

before(async () => {
  vision = path.join(temporaryDirectory(), 'vision');
  mkdirSync(vision);
  for (const [name, sample] of [['first', 'input-stall'], ['second', 'four-devices']]) cpSync(path.join(samples(), sample), path.join(vision, name), { recursive: true });
  server = await startServer({ access: true, roots: [vision, path.join(samples(), 'two-hosts')], extra: ['--project', `vision=${vision}`, '--access-contact', CONTACT] });
  ada = await enter('ada', { code: server.adminCode, new_password: PASSWORD });
  browser = await startBrowser();
  await browser.allowClipboard(server.url);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

// One who signs in without a browser: cookie and token are sent as the console does.
async function enter(user, proof) {
  const answer = await fetch(server.url + '/api/v1/sign-in', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ user, ...proof }) });
  assert.equal(answer.status, 200, await answer.text());
  const cookie = answer.headers.getSetCookie()[0].split(';')[0];
  cookies.set(user, cookie);
  const me = await (await fetch(server.url + '/api/v1/me', { headers: { Cookie: cookie } })).json();
  return async (method, address, body) => {
    const sent = await fetch(server.url + address, { method, headers: { Cookie: cookie, 'X-Strobe-Csrf': me.csrf_token, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) });
    const json = await sent.json();
    assert.ok(sent.status < 300, `${method} ${address}: ${JSON.stringify(json)}`);
    return json;
  };
}

async function person(name, role, project = 'vision') {
  const made = await ada('POST', '/api/v1/access/users', { name });
  if (role) await ada('POST', '/api/v1/access/roles', { project, subject: `user:${name}`, role });
  return enter(name, { code: made.one_time_code, new_password: PASSWORD });
}

async function signIn(page, name) {
  await page.getByLabel('Name').first().fill(name);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

// A page in the browser of somebody who is signed in there; of nobody without a name.
async function openAs(name, address, size = {}) {
  await browser.forgetCookies();
  if (name) await browser.takeCookie(server.url, cookies.get(name));
  const page = await browser.open(server.url, { address, ...size });
  page.refused = [];
  page.on('response', (response) => response.status() >= 400 && page.refused.push(`${response.status()} ${new URL(response.url()).pathname}`));
  return page;
}

// Being sent to the sign-in is a 401 that Chromium notes as an error; nothing else may be.
async function close(page, { refused = false } = {}) {
  assert.deepEqual(page.foreignRequests, []);
  assert.deepEqual(page.pageErrors.filter((text) => !/status of 401/.test(text) && !(refused && /status of 40[34]/.test(text))), []);
  await page.close();
}

const table = (page, name) => page.locator(`table[aria-label="${name}"] tbody tr:not([aria-hidden])`);
const row = (page, name, text) => table(page, name).filter({ hasText: text });
const dialog = (page) => page.getByRole('dialog');
const share = (page) => page.getByRole('banner').getByRole('button', { name: 'Share' }).click();

async function sessionOf(run) {
  for (;;) {
    const { sessions } = await ada('GET', '/api/v1/sessions?page_size=1000');
    const found = sessions.find((one) => one.run.startsWith(run) && one.project === 'vision' && one.state !== 'writing');
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('a person is led to the sign-in and back, sees who they are, and signs out', async () => {
  const page = await openAs(null, '/runs?project=vision');
  await page.waitForURL(/\/sign-in\?return=/);
  await signIn(page, 'ada');
  await page.waitForURL(server.url + '/runs?project=vision');
  const menu = page.getByRole('button', { name: 'Account of ada' });
  await menu.click();
  await page.getByText('user:ada').waitFor();
  await page.getByRole('menuitem', { name: 'Account and tokens' }).click();
  await page.getByRole('heading', { name: 'Your tokens' }).waitFor();
  assert.match(await page.locator('table[aria-label="What you may do"]').innerText(), /All projects[\s\S]*administer/);
  await menu.click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.waitForURL(/\/sign-in$/);
  await page.goto(server.url + '/account');
  await page.waitForURL(/\/sign-in\?return=/);
  await close(page);
});

test('a user is added with a code that is shown once, kept out, let in and deleted', async () => {
  const page = await openAs('ada', '/admin/users');
  await page.getByRole('button', { name: 'Add a user' }).click();
  await page.getByLabel('Name to sign in with').fill('bob');
  await page.getByLabel('Name as shown').fill('<b>Bob</b>');
  await dialog(page).getByRole('button', { name: 'Add', exact: true }).click();
  const code = await page.getByTestId('secret').innerText();
  await page.getByRole('button', { name: 'I have it' }).click();
  await row(page, 'Users', 'bob').filter({ hasText: 'code not used yet' }).filter({ hasText: '<b>Bob</b>' }).waitFor();
  await enter('bob', { code, new_password: PASSWORD });

  const choose = async (what) => {
    await page.getByRole('button', { name: 'Change bob' }).click();
    await page.getByRole('menuitem', { name: what }).click();
  };
  await choose('Keep out');
  await dialog(page).getByText('every sign-in, at once').waitFor();
  await dialog(page).getByRole('button', { name: 'Keep out' }).click();
  await row(page, 'Users', 'bob').filter({ hasText: 'Kept out' }).waitFor();
  await assert.rejects(enter('bob', { password: PASSWORD }), /ACCOUNT_DISABLED|SIGN_IN_FAILED/);
  await choose('Let in again');
  await row(page, 'Users', 'bob').filter({ hasText: 'May enter' }).waitFor();
  await enter('bob', { password: PASSWORD });
  await choose('Delete');
  await dialog(page).getByText('What stays:').waitFor();
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await row(page, 'Users', 'bob').waitFor({ state: 'detached' });

  await page.getByLabel('Name or address').fill('nobody-like-this');
  await page.getByText('Nobody has nobody-like-this in name or address.').waitFor();
  assert.match(page.url(), /q=nobody-like-this/);
  // A name that the server refuses is said in the dialog, with the request id.
  await page.getByRole('button', { name: 'Add a user' }).click();
  await page.getByLabel('Name to sign in with').fill('not a name');
  await dialog(page).getByRole('button', { name: 'Add', exact: true }).click();
  await dialog(page).getByText('NAME_MALFORMED').waitFor();
  assert.match(await dialog(page).innerText(), /request r-/);
  await close(page, { refused: true }).catch((error) => assert.match(String(error), /status of 400/));
});

test('a group with a role opens a project to its members, and only that', async () => {
  await person('erin');
  const page = await openAs('ada', '/admin/groups');
  await page.getByRole('button', { name: 'Add a group' }).click();
  await dialog(page).getByLabel(/^Name(?! as)/).fill('vision-team');
  await dialog(page).getByRole('button', { name: 'Add', exact: true }).click();
  await dialog(page).getByLabel('Take in').fill('user:erin');
  await dialog(page).getByRole('button', { name: 'Add', exact: true }).click();
  await dialog(page).getByRole('button', { name: 'Take user:erin out' }).waitFor();
  await dialog(page).getByRole('button', { name: 'Close', exact: true }).click();
  await row(page, 'Groups', 'vision-team').filter({ hasText: 'erin' }).waitFor();

  await page.getByRole('link', { name: 'Roles' }).click();
  await page.getByRole('heading', { name: 'Roles in all projects' }).waitFor();
  await row(page, 'Roles', 'user:ada').filter({ hasText: 'admin' }).waitFor();
  await page.goto(server.url + '/admin/roles?project=vision');
  await page.getByRole('button', { name: 'Give a role' }).click();
  await dialog(page).getByLabel(/^To/).fill('group:vision-team');
  await dialog(page).getByLabel(/^Role/).selectOption('editor');
  await dialog(page).getByRole('button', { name: 'Give' }).click();
  await row(page, 'Roles', 'group:vision-team').filter({ hasText: 'editor' }).waitFor();
  await close(page);

  await sessionOf('first');
  const own = await openAs('erin', '/');
  await table(own, 'Sessions').first().waitFor();
  const projects = await table(own, 'Sessions').locator('td:nth-child(5)').allInnerTexts();
  assert.ok(projects.length >= 2 && projects.every((project) => project === 'vision'), projects.join());
  await close(own);

  const again = await openAs('ada', '/admin/roles?project=vision');
  await row(again, 'Roles', 'group:vision-team').getByRole('button', { name: 'Take away' }).click();
  await dialog(again).getByRole('button', { name: 'Take away' }).click();
  await row(again, 'Roles', 'group:vision-team').waitFor({ state: 'detached' });
  await close(again);
});

// acceptance: QA2
test('a viewer sees no control that would be refused, and nothing is refused on the way', async () => {
  await person('carol', 'viewer');
  await ada('POST', '/v1alpha/projects/vision/locations/local/machineLearningRuns?machineLearningRunId=seen', { displayName: 'seen', artifacts: { gcsPath: path.join(vision, 'first') }, labels: { list_existing_sessions_only: 'true' } });
  const session = await sessionOf('first');
  const page = await openAs('carol', '/');
  await table(page, 'Sessions').first().waitFor();
  const controls = ['Capture', 'Upload', 'Register a run', 'Edit', 'Delete', 'Make a link', 'Take back', 'Admin'];
  const sees = async () => {
    const found = [];
    for (const name of controls) if ((await page.getByRole('button', { name, exact: true }).count()) + (await page.getByRole('link', { name, exact: true }).count()) > 0) found.push(name);
    return found;
  };
  assert.deepEqual(await sees(), []);
  await page.keyboard.press('Control+Shift+C');
  assert.equal(await dialog(page).count(), 0);
  await page.goto(server.url + '/runs?project=vision');
  await table(page, 'Runs').first().waitFor();
  assert.deepEqual(await sees(), []);
  await page.goto(server.url + '/runs/vision/local/seen');
  await page.getByRole('heading', { name: 'seen' }).waitFor();
  for (const tab of ['Configs', 'Workers', 'Events', 'Operations']) await page.getByRole('tab', { name: new RegExp(tab) }).click();
  assert.deepEqual(await sees(), []);
  await page.goto(`${server.url}/s/${session.id}/overview`);
  await share(page);
  await page.getByTestId('may-not-share').waitFor();
  assert.deepEqual(await sees(), []);
  assert.deepEqual(page.refused, []);
  await page.goto(server.url + '/admin/users');
  await page.getByRole('heading', { name: 'The administration is not open to you' }).waitFor();
  await page.locator('.lost-page', { hasText: 'user:carol' }).filter({ hasText: CONTACT }).waitFor();
  assert.deepEqual(page.refused, []);
  await close(page);
});

test('a key file is downloaded once, lets a program in, and is taken back', async () => {
  const page = await openAs('ada', '/admin/service-accounts');
  await page.getByRole('button', { name: 'Add a service account' }).click();
  await dialog(page).getByLabel(/^Name(?! as)/).fill('trainer');
  await dialog(page).getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('This account has no key yet.').waitFor();
  await page.getByLabel('Project in the file').fill('vision');
  await page.getByRole('button', { name: 'Make a key file' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
  assert.equal(download.suggestedFilename(), 'trainer-key.json');
  const file = JSON.parse(readFileSync(await download.path(), 'utf8'));
  assert.equal(file.type, 'service_account');
  assert.equal(file.project_id, 'vision');
  assert.equal(file.token_uri, server.url + '/token');
  assert.match(file.private_key, /BEGIN (RSA )?PRIVATE KEY/);
  await page.getByRole('button', { name: 'I have it' }).click();
  const key = dialog(page).locator('tbody tr').filter({ hasText: file.private_key_id.slice(0, 12) });
  await key.waitFor();
  assert.equal((await page.content()).includes('PRIVATE KEY'), false, 'the key is not shown again');
  await key.getByRole('button', { name: 'Take back' }).click();
  await key.filter({ hasText: 'taken back' }).waitFor();
  await page.keyboard.press('Escape');
  await row(page, 'Service accounts', 'trainer').getByRole('button', { name: 'New token' }).click();
  await page.getByLabel('What it is for').fill('nightly');
  await page.getByRole('button', { name: 'Make a token' }).click();
  const token = await page.getByTestId('secret').innerText();
  const me = await (await fetch(server.url + '/api/v1/me', { headers: { Authorization: `Bearer ${token}` } })).json();
  assert.equal(me.subject, 'service:trainer');
  await page.getByRole('button', { name: 'I have it' }).click();
  await row(page, 'Service accounts', 'trainer').getByRole('button', { name: 'Delete' }).click();
  await dialog(page).getByText('its key files, its tokens').waitFor();
  await dialog(page).getByRole('button', { name: 'Delete' }).click();
  await row(page, 'Service accounts', 'trainer').waitFor({ state: 'detached' });
  assert.equal((await fetch(server.url + '/api/v1/me', { headers: { Authorization: `Bearer ${token}` } })).status, 401);
  await close(page);
});

test('a token of one’s own is shown once, works, and is taken back', async () => {
  await person('frank', 'editor');
  const page = await openAs('frank', '/account');
  await page.getByText('You have no token.').waitFor();
  await page.getByRole('button', { name: 'Make a token' }).click();
  await page.getByLabel('What it is for').fill('notebook');
  await page.getByLabel('Reach').selectOption('view');
  await dialog(page).getByRole('button', { name: 'Make a token' }).click();
  const token = await page.getByTestId('secret').innerText();
  await page.getByRole('button', { name: 'I have it' }).click();
  const ask = (method, body) => fetch(server.url + (body ? '/api/v1/links' : '/api/v1/sessions'), { method, headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }, body });
  assert.equal((await ask('GET')).status, 200);
  assert.equal((await ask('POST', JSON.stringify({ session: (await sessionOf('first')).id }))).status, 403);
  const mine = row(page, 'Your tokens', 'notebook');
  await mine.getByRole('button', { name: 'Take back' }).click();
  await dialog(page).getByText('Programs that use it are refused.').waitFor();
  await dialog(page).getByRole('button', { name: 'Take back' }).click();
  await mine.filter({ hasText: 'taken back' }).waitFor();
  assert.equal((await ask('GET')).status, 401);
  await close(page);
});

test('a link to the exact view opens it for whoever signs in, and nothing beside it', async () => {
  await person('grace', 'editor');
  await person('dave');
  const session = await sessionOf('first');
  const sibling = await sessionOf('second');
  const view = `/s/${session.id}/timeline?v=1ms,5ms`;
  const page = await openAs('grace', view);
  await page.waitForSelector('[data-testid=timeline][data-ready=true]');
  await page.keyboard.press('Y');
  await dialog(page).getByRole('heading', { name: 'A link for people without a role' }).waitFor();
  // Anyone with the link is for administrators of the project.
  assert.equal(await dialog(page).getByRole('option', { name: 'Anyone with the link' }).isDisabled(), true);
  await dialog(page).getByLabel('Ends after').selectOption('7');
  await dialog(page).getByRole('button', { name: 'Make a link' }).click();
  const link = await dialog(page).getByLabel('Share link').inputValue();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), link, 'the link is copied at once');
  assert.ok(link.startsWith(server.url + '/l/'));
  const listed = await ada('GET', '/api/v1/links?project=vision');
  assert.equal(listed.links[0].view, view);
  await close(page);

  const theirs = await openAs(null, link.slice(server.url.length));
  await theirs.waitForURL(/\/sign-in\?return=/);
  await signIn(theirs, 'dave');
  await theirs.waitForURL(server.url + view);
  await theirs.waitForSelector('[data-testid=timeline][data-ready=true]');
  assert.equal(await theirs.getByRole('button', { name: 'Capture', exact: true }).count(), 0);
  await theirs.goto(`${server.url}/s/${sibling.id}/overview`);
  await theirs.getByText('it is not open to you').waitFor();
  await theirs.locator('.lost-page', { hasText: 'user:dave' }).filter({ hasText: CONTACT }).waitFor();
  await theirs.goto(server.url + '/');
  await theirs.getByRole('heading', { name: 'Nothing is open to you yet' }).waitFor();
  await close(theirs, { refused: true });

  // Taken back in the dialog, it says so to whoever comes, and whom to ask.
  const maker = await openAs('grace', `/s/${session.id}/overview`);
  await share(maker);
  await dialog(maker).getByRole('button', { name: 'Take back' }).click();
  await dialog(maker).getByText('None is open.').waitFor();
  await close(maker);
  const late = await openAs(null, link.slice(server.url.length));
  assert.match(await late.locator('main').innerText(), /taken back[\s\S]*Ask grace/i);
  await late.goto(link.slice(0, -2) + 'xx');
  assert.match(await late.locator('main').innerText(), /never made here[\s\S]*ops@example\.com/i);
  await late.close();
});

test('a link for anyone opens one session without a sign-in', async () => {
  const session = await sessionOf('second');
  const page = await openAs('ada', `/s/${session.id}/overview`);
  await share(page);
  await dialog(page).getByLabel(/^For/).selectOption('ANYONE');
  await dialog(page).getByText('without a sign-in, until it ends').waitFor();
  await dialog(page).getByRole('button', { name: 'Make a link' }).click();
  const link = await dialog(page).getByLabel('Share link').inputValue();
  await close(page);

  const theirs = await openAs(null, link.slice(server.url.length));
  await theirs.waitForURL(new RegExp(`/s/${session.id}/`));
  await theirs.getByRole('heading', { name: /Top operations|Operations/ }).first().waitFor();
  await theirs.getByRole('link', { name: 'Sign in' }).waitFor();
  await theirs.keyboard.press('g');
  await theirs.keyboard.press('t');
  await theirs.waitForSelector('[data-testid=timeline][data-ready=true]');
  assert.match(theirs.url(), /timeline/, 'nothing led to the sign-in');
  await close(theirs);
});

test('a link to a run opens the run and its profiles', async () => {
  await ada('POST', '/v1alpha/projects/vision/locations/local/machineLearningRuns?machineLearningRunId=shared', { displayName: 'shared run', artifacts: { gcsPath: path.join(vision, 'second') }, labels: { list_existing_sessions_only: 'true' } });
  const page = await openAs('grace', '/runs/vision/local/shared');
  await table(page, 'Profiles').filter({ has: page.getByRole('link') }).first().waitFor();
  await share(page);
  await dialog(page).getByRole('button', { name: 'Make a link' }).click();
  const link = await dialog(page).getByLabel('Share link').inputValue();
  await close(page);

  const theirs = await openAs(null, link.slice(server.url.length));
  await theirs.waitForURL(/\/sign-in\?return=/);
  await signIn(theirs, 'dave');
  await theirs.waitForURL(/\/runs\/vision\/local\/shared/);
  await theirs.getByRole('heading', { name: 'shared run' }).waitFor();
  assert.equal(await theirs.getByRole('button', { name: 'Edit' }).count(), 0);
  await table(theirs, 'Profiles').getByRole('link').first().click();
  await theirs.waitForURL(/\/s\/[^/]+\/overview/);
  await theirs.getByRole('heading', { name: /Top operations|Operations/ }).first().waitFor();
  await theirs.goto(server.url + '/runs/vision/local/seen');
  await theirs.getByText('The run seen could not be shown.').waitFor();
  await theirs.locator('.page', { hasText: 'user:dave' }).filter({ hasText: CONTACT }).waitFor();
  await close(theirs, { refused: true });
});

test('links of a project are listed and taken back', async () => {
  const session = await sessionOf('first');
  await ada('POST', '/api/v1/links', { session: session.id, days: 1 });
  const page = await openAs('ada', '/admin/links?project=vision');
  const mine = table(page, 'Share links').filter({ hasText: 'ada' }).filter({ hasText: 'Take back' }).first();
  await mine.getByRole('button', { name: 'Take back' }).click();
  await dialog(page).getByText('A copied link does not come back to life.').waitFor();
  await dialog(page).getByRole('button', { name: 'Take back' }).click();
  await page.getByText('The link was taken back.').waitFor();
  await close(page);
});

test('tokens of all accounts are listed and one is taken back', async () => {
  const judy = await person('judy', 'viewer');
  const made = await judy('POST', '/api/v1/access/tokens', { name: 'of judy' });
  const page = await openAs('ada', '/admin/tokens');
  await page.getByLabel('Account, purpose or project').fill('judy');
  const hers = row(page, 'Tokens', 'of judy');
  await hers.getByRole('button', { name: 'Take back' }).click();
  await dialog(page).getByRole('button', { name: 'Take back' }).click();
  await hers.filter({ hasText: 'taken back' }).waitFor();
  assert.equal((await fetch(server.url + '/api/v1/me', { headers: { Authorization: `Bearer ${made.token}` } })).status, 401);
  await close(page);
});

test('the audit record shows denials, keeps its filters in the address, and verifies', async () => {
  const page = await openAs('ada', '/admin/audit');
  await table(page, 'Audit').first().waitFor();
  await page.getByLabel('Outcome').selectOption('DENIED');
  await page.waitForFunction(() => [...document.querySelectorAll('table[aria-label=Audit] tbody tr')].every((one) => one.innerText.includes('Denied')));
  assert.ok((await table(page, 'Audit').count()) > 0);
  assert.match(page.url(), /outcome=DENIED/);
  await page.getByRole('button', { name: 'Verify the chain' }).click();
  await page.getByText('The chain is whole:').waitFor();
  const head = await page.locator('.verify-head code').innerText();
  await page.getByLabel('A hash that you kept elsewhere').fill(head);
  await page.getByRole('button', { name: 'Verify the chain' }).click();
  await page.getByText('and the kept hash is one of them').waitFor();
  await page.getByLabel('A hash that you kept elsewhere').fill('0'.repeat(64));
  await page.getByRole('button', { name: 'Verify the chain' }).click();
  await page.getByText('The chain is broken.').waitFor();
  await close(page);
});

test('an administrator of one project manages its roles and links, not the server', async () => {
  await person('heidi', 'admin');
  const page = await openAs('heidi', '/admin');
  await page.getByRole('heading', { name: 'Roles in vision' }).waitFor();
  assert.deepEqual(await page.locator('nav[aria-label="Parts of the administration"] a').allInnerTexts(), ['Roles', 'Share links']);
  await page.getByRole('button', { name: 'Give a role' }).click();
  await dialog(page).getByLabel(/^To/).fill('user:dave');
  await dialog(page).getByRole('button', { name: 'Give' }).click();
  await row(page, 'Roles', 'user:dave').filter({ hasText: 'viewer' }).waitFor();
  await row(page, 'Roles', 'user:dave').getByRole('button', { name: 'Take away' }).click();
  await dialog(page).getByRole('button', { name: 'Take away' }).click();
  await row(page, 'Roles', 'user:dave').waitFor({ state: 'detached' });
  assert.deepEqual(page.refused, []);
  await page.goto(server.url + '/admin/users');
  await page.getByText('does not administer').waitFor();
  assert.deepEqual(page.refused, []);
  await close(page);
});

test('a password is changed, and every sign-in ends with it', async () => {
  await person('ivan', 'viewer');
  const page = await openAs('ivan', '/account');
  await page.getByLabel('Present password').fill(PASSWORD);
  await page.getByLabel(/New password/).fill('short');
  assert.equal(await page.getByRole('button', { name: 'Change', exact: true }).isDisabled(), true);
  await page.getByLabel(/New password/).fill(PASSWORD + ' staple');
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await page.waitForURL(/\/sign-in$/);
  await enter('ivan', { password: PASSWORD + ' staple' });
  await assert.rejects(enter('ivan', { password: PASSWORD }));
  await close(page);
});

// The other themes and widths with ./dev check console.
const LOOKS = [[1280, 'dark', 'dark'], [1024, 'light', 'light'], [1920, 'light', 'contrast']].slice(0, process.env.STROBE_TIMED ? 3 : 1);
// acceptance: W5
test('no page of access has a serious finding of axe, or is wider than its window', async () => {
  await ada('POST', '/api/v1/access/service-accounts', { name: 'seen-by-axe' });
  const session = await sessionOf('first');
  const addresses = ['/admin/users', '/admin/groups', '/admin/roles?project=vision', '/admin/service-accounts', '/admin/tokens', '/admin/links?project=vision', '/admin/audit', '/account', '/runs?project=vision', '/runs/vision/local/shared', `/s/${session.id}/overview`];
  const axe = readFileSync(createRequire(path.join(ROOT, 'web/package.json')).resolve('axe-core/axe.min.js'), 'utf8');
  const found = [];
  for (const [width, colorScheme, theme] of LOOKS) {
    const page = await openAs('ada', addresses[0], { width, height: 900, colorScheme });
    await page.addInitScript((choice) => localStorage.setItem('strobe.theme', choice), theme);
    for (const address of addresses) {
      await page.goto(server.url + address);
      await page.waitForFunction(() => document.querySelector('#page h1, #page h2') && !document.querySelector('.skeleton'));
      if (address.startsWith('/s/')) {
        await page.keyboard.press('Y');
        await dialog(page).getByText('Links to it').waitFor();
      }
      const over = await page.evaluate(() => Math.max(document.documentElement.scrollWidth - innerWidth, document.querySelector('#page').scrollWidth - document.querySelector('#page').clientWidth));
      if (over > 0) found.push(`${address} at ${width}: ${over} px too wide`);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
      for (const one of violations) if (['serious', 'critical'].includes(one.impact)) found.push(`${address} ${theme} ${one.id}: ${one.nodes.slice(0, 2).map((node) => node.target).join(' ')}`);
    }
    await close(page);
  }
  assert.deepEqual(found, []);
});

test('without access control the administration says how to turn it on', async () => {
  const open = await startServer({ roots: [samples()] });
  try {
    const page = await browser.open(open.url, { address: '/' });
    await page.getByRole('link', { name: 'Admin' }).click();
    await page.getByRole('heading', { name: 'Access control is off' }).waitFor();
    assert.match(await page.locator('.snippet').innerText(), /strobe access create-admin[\s\S]*--access/);
    assert.equal(await page.getByRole('button', { name: /Account of/ }).count(), 0);
    await page.goto(open.url + '/');
    await page.locator('table[aria-label=Sessions] tbody tr.link').first().waitFor();
    await page.keyboard.press('Y');
    await page.getByText('Access control is off on this server').waitFor();
    assert.deepEqual(page.pageErrors, []);
    await page.close();
  } finally {
    await open.stop();
  }
});
