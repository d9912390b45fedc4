/**
 * The page that an invitation's e-mail leads to: a form for the name, whose script posts it and shows the token once.
 * The page is the same for everybody. Its script takes the secret from the fragment of the address, which no request has,
 * so that it stands in no log and in no HTML; and what may run or be reached is pinned by hash.
 */
import { createHash } from 'node:crypto';
import { type Addresses } from './discovery/addresses.ts';

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 34em; margin: 4em auto; padding: 0 1em; color: #1c1c1e; background: #fff }
label, input, button { display: block; font: inherit }
input { width: 100%; box-sizing: border-box; margin: .3em 0 1em; padding: .5em; border: 1px solid #8e8e93; border-radius: 4px }
button { padding: .5em 1.2em; border: 0; border-radius: 4px; background: #1c1c1e; color: #fff; cursor: pointer }
button:disabled { opacity: .5 }
pre { padding: 1em; white-space: pre-wrap; overflow-wrap: anywhere; background: #f2f2f7; border-radius: 4px }
[role=alert] { color: #b00020 }
#done button { margin: -.5em 0 1.5em }
[hidden] { display: none }
`;

const script = `
const byId = (id) => document.getElementById(id);
const token = new URLSearchParams(location.hash.slice(1)).get('token');
const say = (text) => { byId('problem').textContent = text; };
if (!token) { say('The link is not whole: it has no token. Open it as it stands in the e-mail.'); byId('join').disabled = true; }
byId('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  say('');
  byId('join').disabled = true;
  try {
    const response = await fetch(location.pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, name: byId('name').value }),
    });
    const answer = await response.json();
    if (response.ok) {
      byId('member').textContent = answer.member.name + ' (@' + answer.member.handle + ')';
      byId('token').textContent = answer.apiToken;
      byId('form').hidden = true;
      byId('done').hidden = false;
      document.title = byId('title').textContent = 'You are in';
      // Neither the history nor a bookmark needs what has been used.
      history.replaceState(null, '', location.pathname + location.search);
      byId('done').focus();
      return;
    }
    const issue = answer.details && answer.details.issues && answer.details.issues[0];
    say(response.status === 404 ? 'This invitation is not known. A newer e-mail may have replaced it.'
      : response.status === 409 ? 'This invitation was used or taken back.'
      : issue ? issue.path + ' ' + issue.message : answer.message);
  } catch {
    say('There was no answer; try again.');
  }
  byId('join').disabled = false;
});
byId('copy').addEventListener('click', async () => {
  try {
    await navigator.clipboard.writeText(byId('token').textContent);
    byId('copied').textContent = 'Copied.';
  } catch {
    getSelection().selectAllChildren(byId('token'));
    byId('copied').textContent = 'The token is selected: copy it by the keyboard.';
  }
});
`;

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** What is served does not depend on who asks. */
export function invitationPageOf({ baseUrl, docsUrl }: Addresses): string {
  const guide =
    docsUrl === null
      ? ''
      : `
<p><a href="${escaped(docsUrl)}/guides/first-ten-minutes">The first ten minutes</a> show what to do with it.</p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Join on Muster</title>
<style>${style}</style>
</head>
<body>
<main>
<h1 id="title">You are invited</h1>
<noscript><p>This page needs JavaScript. The e-mail also has a command that accepts the invitation in a terminal.</p></noscript>
<p id="problem" role="alert"></p>
<form id="form">
<p>The e-mail says who invites you, and to which organization.</p>
<label for="name">Your name, as the others will see it</label>
<input id="name" name="name" required maxlength="120" autocomplete="name" autofocus>
<button id="join">Join</button>
</form>
<section id="done" tabindex="-1" hidden>
<h2>Welcome, <span id="member"></span></h2>
<p>This is your token. Keep it like a password: it is shown now, and never again.</p>
<pre id="token"></pre>
<button id="copy" type="button">Copy the token</button>
<p id="copied" role="status"></p>
<h2>What comes next</h2>
<p>The command line asks for the token once and keeps it:</p>
<pre>muster login ${escaped(baseUrl)}</pre>
<p>Programs send it with each call to <code>${escaped(baseUrl)}</code>, in the header <code>Authorization: Bearer …</code>.</p>${guide}
</section>
</main>
<script>${script}</script>
</body>
</html>
`;
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Nothing runs but the one script, nothing looks like the one style, and nothing is reached but where it comes from. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  // The address has the secret in it.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
