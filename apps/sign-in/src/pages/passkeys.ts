/** Passkey pages: the sign-in button, and the page on which a person creates and removes passkeys. */
import { type Account } from '../data/accounts.ts';
import { type AccountPasskey } from '../data/passkeys.ts';
import { type Html, html } from '@muster/http';
import { type HtmlPage } from './layout.ts';
import { passkeyScript } from './passkey-script.ts';

export const passkeysPath = '/sign-in/passkeys';

/** Renders the button, which stays hidden until the script finds that the browser supports passkeys. */
export const passkeyButton = (to: string): Html =>
  html`<form id="passkey" data-does="prove" hidden>
    <input type="hidden" name="to" value="${to}" />
    <p id="passkey-problem" class="form-error" role="alert"></p>
    <button class="button">Sign in with a passkey</button>
  </form>`;

const formatDay = (time: string): string => time.slice(0, 10);

const passkeyItem = (
  { id, name, isSynced, createdAt, lastUsedAt }: AccountPasskey,
  mayChange: boolean,
): Html =>
  html`<li>
    <div>
      ${name}<br />
      <span class="muted"
        >${isSynced ? 'synced' : 'this device only'}, created ${formatDay(createdAt)},
        ${lastUsedAt === null ? 'never used' : `last used ${formatDay(lastUsedAt)}`}</span
      >
      <details>
        <summary>Rename ${name}</summary>
        <form method="post" action="/auth/passkeys/rename">
          <input type="hidden" name="passkey" value="${id}" />
          <label for="name-${id}">New name</label>
          <input class="field" id="name-${id}" name="name" value="${name}" required maxlength="120" />
          <button class="button">Save name</button>
        </form>
      </details>
      ${
        mayChange
          ? html`<form method="post" action="/auth/passkeys/delete">
              <input type="hidden" name="passkey" value="${id}" />
              <button class="button">Remove ${name}</button>
            </form>`
          : null
      }
    </div>
  </li>`;

/**
 * The state of the page: whether the person authenticated recently enough to change passkeys, and an error
 * about a name, or null.
 */
export interface PasskeysState {
  readonly mayChange: boolean;
  readonly problem: string | null;
}

export const passkeysPage = (
  account: Account,
  passkeys: readonly AccountPasskey[],
  { mayChange, problem }: PasskeysState,
): HtmlPage => ({
  title: 'Your passkeys',
  ...(problem !== null && { status: 422 }),
  script: passkeyScript,
  body: html`<section class="card">
      <h1>Your passkeys</h1>
      <p>For ${account.email}. Sign in with a fingerprint, your face or a PIN, without an e-mail.</p>
      ${problem === null ? null : html`<p class="form-error" role="alert">${problem}</p>`}
      ${
        passkeys.length === 0
          ? html`<p>No passkeys yet.</p>`
          : html`<ul class="rows">
              ${passkeys.map((passkey) => passkeyItem(passkey, mayChange))}
            </ul>`
      }
      <p><a href="/sign-in">Back to your organizations</a></p>
    </section>
    <section class="card">
      ${
        mayChange
          ? html`<h2>Create a passkey</h2>
              <form id="passkey" data-does="make" hidden>
                <p id="passkey-problem" class="form-error" role="alert"></p>
                <label for="name">Name</label>
                <input class="field" id="name" name="name" required maxlength="120" value="This device" />
                <button class="button" data-kind="main">Create passkey</button>
              </form>
              <p class="muted">Your browser must support passkeys and allow JavaScript.</p>`
          : html`<h2>Confirm it’s you</h2>
              <p>Sign in again before you create or remove a passkey.</p>
              <p>
                <a class="button" data-kind="main" href="/sign-in?again&amp;to=${passkeysPath}"
                  >Sign in again</a
                >
              </p>`
      }
    </section>`,
});
