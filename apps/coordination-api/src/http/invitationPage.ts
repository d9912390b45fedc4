/**
 * The page that an invitation's e-mail links to: a form for the name, whose script posts it and shows the
 * token once. The page is equal for all invitations. Its script reads the secret from the URL's fragment,
 * which browsers never send, so that no log or HTML contains it. The policy pins the script by hash and
 * restricts connections.
 */
import { html, type RenderedPage } from '@muster/http';
import { type Addresses } from './discovery/addresses.ts';
import { renderFramedPage } from './framePage.ts';

const script = `
const byId = (id) => document.getElementById(id);
const token = new URLSearchParams(location.hash.slice(1)).get('token');
const say = (text) => { byId('problem').textContent = text; };
if (!token) { say('This link is incomplete. Copy the whole link from the e-mail.'); byId('join').disabled = true; }
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
      document.title = byId('title').textContent = 'You joined';
      // Neither the history nor a bookmark needs what has been used.
      history.replaceState(null, '', location.pathname + location.search);
      byId('done').focus();
      return;
    }
    const issue = answer.details && answer.details.issues && answer.details.issues[0];
    say(response.status === 404 ? 'This invitation was not found. A newer e-mail may have replaced it.'
      : response.status === 409 ? 'This invitation was already used or was revoked.'
      : issue ? issue.path + ' ' + issue.message : answer.message);
  } catch {
    say('The server did not answer. Try again.');
  }
  byId('join').disabled = false;
});
byId('copy').addEventListener('click', async () => {
  try {
    await navigator.clipboard.writeText(byId('token').textContent);
    byId('copied').textContent = 'Copied.';
  } catch {
    getSelection().selectAllChildren(byId('token'));
    byId('copied').textContent = 'The token is selected. Press Ctrl+C or ⌘C to copy it.';
  }
});
`;

/** Renders the page, which does not depend on the caller. */
export const renderInvitationPage = ({ baseUrl, docsUrl }: Addresses): RenderedPage =>
  renderFramedPage({
    title: 'Accept invitation',
    script,
    body: html`<section class="card">
      <h1 id="title">Accept invitation</h1>
      <noscript>
        <p>
          This page needs JavaScript. The e-mail also has a command that accepts the invitation in a terminal.
        </p>
      </noscript>
      <p id="problem" class="form-error" role="alert"></p>
      <form id="form">
        <p>The e-mail names the organization and the person who invited you.</p>
        <label for="name">Your name, as others will see it</label>
        <input class="field" id="name" name="name" required maxlength="120" autocomplete="name" autofocus />
        <button class="button" data-kind="main" id="join">Join</button>
      </form>
      <div id="done" class="stack" tabindex="-1" hidden>
        <h2>Welcome, <span id="member"></span></h2>
        <p>This is your token. Copy it now and keep it like a password. You won’t be able to see it again.</p>
        <pre id="token"></pre>
        <button class="button" data-kind="main" id="copy" type="button">Copy token</button>
        <p id="copied" class="muted" role="status"></p>
        <h2>Next steps</h2>
        <p>Sign in on the command line. It asks for the token once and stores it:</p>
        <pre>muster login ${baseUrl}</pre>
        <p>
          Programs send the token with each call to <code>${baseUrl}</code>, in the header
          <code>Authorization: Bearer …</code>.
        </p>
        ${
          docsUrl === null
            ? null
            : html`<p>
                <a href="${docsUrl}/guides/first-ten-minutes">Read the guide for your first ten minutes</a>
              </p>`
        }
      </div>
    </section>`,
  });
