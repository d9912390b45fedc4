/** Pages for signing in by a link. */
import { linkLifetimeMinutes } from '../data/links.ts';
import { type Html, html } from '@muster/http';
import { type HtmlPage } from './layout.ts';
import { passkeyScript } from './passkey-script.ts';
import { passkeyButton } from './passkeys.ts';

export const problemMessage = (text: string | null): Html | null =>
  text === null ? null : html`<p class="form-error" role="alert">${text}</p>`;

/** The sign-in methods in addition to links by e-mail. */
export interface SignInMethods {
  /** The demo member as whom one click signs in. */
  readonly demo: string | null;
  /** True if passkeys are available. */
  readonly passkeys: boolean;
}

export interface SignInFacts {
  readonly returnPath: string;
  readonly problem?: string;
  /** The submitted address. */
  readonly email?: string;
  /** An additional message. */
  readonly note?: string;
}

export const signInPage = (
  { demo, passkeys }: SignInMethods,
  { returnPath, problem: why, email = '', note }: SignInFacts,
): HtmlPage => ({
  title: 'Sign in',
  status: why === undefined ? 200 : 422,
  ...(passkeys && { script: passkeyScript }),
  body: html`<section class="card">
      <h1>Sign in</h1>
      ${problemMessage(why ?? null)} ${note === undefined ? null : html`<p>${note}</p>`}
      <form method="post" action="/auth/link">
        <input type="hidden" name="to" value="${returnPath}" />
        <label for="email">E-mail address</label>
        <input
          class="field"
          id="email"
          name="email"
          type="email"
          required
          maxlength="320"
          autocomplete="username webauthn"
          value="${email}"
          autofocus
        />
        <button class="button" data-kind="main">E-mail me a sign-in link</button>
      </form>
      ${passkeys ? passkeyButton(returnPath) : null}
      <p class="muted">You don’t need a password. We e-mail you a link that signs you in.</p>
    </section>
    ${
      demo === null
        ? null
        : html`<section class="card">
            <h2>Demo on this computer</h2>
            <form method="post" action="/auth/demo">
              <input type="hidden" name="to" value="${returnPath}" />
              <button class="button">Sign in as ${demo}</button>
            </form>
          </section>`
    }`,
});

export const checkMailPage = (problemText: string | null): HtmlPage => ({
  title: 'Check your e-mail',
  status: problemText === null ? 200 : 422,
  body: html`<section class="card">
    <h1>Check your e-mail</h1>
    <p>
      If this address can sign in here, we have sent it a link. Open the link in this browser within
      ${linkLifetimeMinutes} minutes.
    </p>
    ${problemMessage(problemText)}
    <form method="post" action="/auth/code">
      <label for="code">Or enter the code from the e-mail</label>
      <input
        class="field code"
        id="code"
        name="code"
        required
        maxlength="12"
        autocomplete="one-time-code"
        autocapitalize="characters"
        spellcheck="false"
      />
      <button class="button" data-kind="main">Sign in with code</button>
    </form>
    <p class="muted">
      No e-mail after a few minutes? Check the address and your spam folder, or
      <a href="/sign-in">request another one</a>.
    </p>
  </section>`,
});

export const confirmLinkPage = (token: string): HtmlPage => ({
  title: 'Sign in',
  body: html`<section class="card">
    <h1>Finish signing in</h1>
    <form method="post" action="/auth/link/use">
      <input type="hidden" name="token" value="${token}" />
      <button class="button" data-kind="main" autofocus>Sign in</button>
    </form>
  </section>`,
});

export const otherBrowserPage: HtmlPage = {
  title: 'Open the link in the other browser',
  status: 403,
  body: html`<section class="card">
    <h1>This link was requested in another browser</h1>
    <p>For your security, it works only there. Go back to that browser and enter the code from the e-mail.</p>
    <p>To sign in here instead, <a href="/sign-in">request a new link</a>.</p>
    <p class="muted">If you didn’t request this, ignore the e-mail and don’t share the code with anyone.</p>
  </section>`,
};

export const linkExpiredPage: HtmlPage = {
  title: 'Link expired',
  status: 410,
  body: html`<section class="card">
    <h1>This link has expired</h1>
    <p>A link can be used once, within ${linkLifetimeMinutes} minutes.</p>
    <p><a class="button" data-kind="main" href="/sign-in">Request a new link</a></p>
  </section>`,
};

export const failurePage = (title: string, text: string, status: number): HtmlPage => ({
  title,
  status,
  body: html`<section class="card">
    <h1>${title}</h1>
    <p>${text}</p>
    <p><a class="button" data-kind="main" href="/sign-in">Sign in</a></p>
  </section>`,
});
