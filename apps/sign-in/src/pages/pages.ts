/** Pages for signing in by a link. */
import { linkMinutes } from '../data/links.ts';
import { type Html, html } from '@muster/http';
import { type Page } from './layout.ts';
import { passkeyScript } from './passkey-script.ts';
import { passkeyButton } from './passkeys.ts';

export const problem = (text: string | null): Html | null =>
  text === null ? null : html`<p class="bad" role="alert">${text}</p>`;

/** The sign-in methods in addition to links by e-mail. */
export interface Ways {
  /** The demo member as whom one click signs in. */
  readonly demo: string | null;
  /** True if passkeys are available. */
  readonly passkeys: boolean;
}

export interface SignInFacts {
  readonly to: string;
  readonly problem?: string;
  /** The submitted address. */
  readonly email?: string;
  /** An additional message. */
  readonly note?: string;
}

export const signInPage = (
  { demo, passkeys }: Ways,
  { to, problem: why, email = '', note }: SignInFacts,
): Page => ({
  title: 'Sign in',
  status: why === undefined ? 200 : 422,
  ...(passkeys && { script: passkeyScript }),
  body: html`<section>
      <h1>Sign in</h1>
      ${problem(why ?? null)} ${note === undefined ? null : html`<p>${note}</p>`}
      <form method="post" action="/auth/link">
        <input type="hidden" name="to" value="${to}" />
        <label for="email">Your e-mail address</label>
        <input
          id="email"
          name="email"
          type="email"
          required
          maxlength="320"
          autocomplete="username webauthn"
          value="${email}"
          autofocus
        />
        <button>Mail me a link</button>
      </form>
      ${passkeys ? passkeyButton(to) : null}
      <p class="quiet">No password: the link in the mail lets you in.</p>
    </section>
    ${
      demo === null
        ? null
        : html`<section>
            <h2>A demo on this machine</h2>
            <form method="post" action="/auth/demo">
              <input type="hidden" name="to" value="${to}" />
              <button class="second">Sign in as ${demo}</button>
            </form>
          </section>`
    }`,
});

export const mailPage = (why: string | null): Page => ({
  title: 'Look into your mail',
  status: why === null ? 200 : 422,
  body: html`<section>
    <h1>Look into your mail</h1>
    <p>
      If the address may sign in here, a mail is on its way. Open its link in this browser, within
      ${linkMinutes} minutes.
    </p>
    ${problem(why)}
    <form method="post" action="/auth/code">
      <label for="code">Or type the code that the mail has</label>
      <input
        id="code"
        class="code"
        name="code"
        required
        maxlength="12"
        autocomplete="one-time-code"
        autocapitalize="characters"
        spellcheck="false"
      />
      <button>Sign in with the code</button>
    </form>
    <p class="quiet">
      No mail after some minutes? <a href="/sign-in">Ask again</a>, and look whether the address is right.
    </p>
  </section>`,
});

export const linkPage = (token: string): Page => ({
  title: 'Sign in',
  body: html`<section>
    <h1>You are nearly in</h1>
    <form method="post" action="/auth/link/use">
      <input type="hidden" name="token" value="${token}" />
      <button autofocus>Sign in</button>
    </form>
  </section>`,
});

export const elsewherePage: Page = {
  title: 'Another browser asked',
  status: 403,
  body: html`<section>
    <h1>Another browser asked for this link</h1>
    <p>
      It signs in no one here, so that a link that went astray is of no use. Go back to the browser in which
      you asked, and type the code there that the mail has.
    </p>
    <p>To sign in here, <a href="/sign-in">ask here</a>.</p>
    <p class="quiet">Did you not ask at all? Then leave the mail alone, and tell no one the code.</p>
  </section>`,
};

export const overPage: Page = {
  title: 'The link is over',
  status: 410,
  body: html`<section>
    <h1>This link is over</h1>
    <p>A link is good once, and for ${linkMinutes} minutes.</p>
    <p><a class="button" href="/sign-in">Ask for another one</a></p>
  </section>`,
};

export const refusedPage = (title: string, text: string, status: number): Page => ({
  title,
  status,
  body: html`<section>
    <h1>${title}</h1>
    <p>${text}</p>
    <p><a class="button" href="/sign-in">Sign in</a></p>
  </section>`,
});
