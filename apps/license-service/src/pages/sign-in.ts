/** The pages on which people of support sign in. */
import { html, type Html } from '@muster/http';
import { type Page } from './layout.ts';

export interface SignInPage {
  /** Of the operators' issuer; undefined where people sign in by a token. */
  readonly issuerName: string | undefined;
  /** Where the person goes after that. */
  readonly to: string;
  readonly problem: string | undefined;
}

const byIssuer = (name: string, to: string): Html =>
  html`<form method="post" action="/support/issuer">
    <input type="hidden" name="to" value="${to}" />
    <button>Continue with ${name}</button>
  </form>`;

const byToken = (to: string, problem: string | undefined): Html =>
  html`<form method="post" action="/support/sign-in">
      <input type="hidden" name="to" value="${to}" />
      <label for="token">Token</label>
      <div class="ask">
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          autofocus
          ${problem === undefined ? null : html` aria-invalid="true" aria-describedby="problem"`}
        />
        <button>Sign in</button>
      </div>
    </form>
    <p class="quiet">
      One with the scopes read and change, as an operator makes it: license token new --scope read,change
    </p>`;

export const signInPage = ({ issuerName, to, problem }: SignInPage): Page => ({
  title: 'Support',
  isNarrow: true,
  ...(problem !== undefined && { status: 401 }),
  body: html`<section>
    <h1>Support</h1>
    ${problem === undefined ? null : html`<p class="bad" id="problem" role="alert">${problem}</p>`}
    ${issuerName === undefined ? byToken(to, problem) : byIssuer(issuerName, to)}
  </section>`,
});

/** On the way to the issuer; browsers go on by themselves. */
export const leadOnPage = (name: string, address: string): Page => ({
  title: 'On to your sign-in',
  isNarrow: true,
  body: html`<section>
    <h1>On to ${name}</h1>
    <p><a href="${address}">Go on</a></p>
    <p class="quiet">If your browser does not go on by itself.</p>
  </section>`,
});

const again = html`<p><a href="/support">Sign in</a></p>`;

export const overPage: Page = {
  title: 'Signing in is over',
  status: 410,
  isNarrow: true,
  body: html`<section>
    <h1>This took too long, or was done</h1>
    <p>Signing in is good once, for a quarter of an hour, in the browser that began it.</p>
    ${again}
  </section>`,
};

export const issuerProblemPage = (name: string): Page => ({
  title: 'You could not be signed in',
  status: 403,
  isNarrow: true,
  body: html`<section>
    <h1>You could not be signed in by ${name}</h1>
    <p>It gave no answer that fits, or you stopped there. Try again.</p>
    ${again}
  </section>`,
});

export interface NotGranted {
  /** Undefined where the issuer says none that is verified. */
  readonly address: string | undefined;
  readonly subject: string;
}

export const notGrantedPage = ({ address, subject }: NotGranted): Page => ({
  title: 'You may nothing here',
  status: 403,
  isNarrow: true,
  body: html`<section>
    <h1>You were signed in, and may see nothing here</h1>
    <p class="wide">
      ${
        address === undefined
          ? html`Your sign-in says no verified e-mail address of you. To it you are
              <strong>${subject}</strong>.`
          : html`As <strong>${address}</strong>.`
      }
    </p>
    <p>Ask who runs this service to let you in:</p>
    <p class="wide">
      <code>license operator grant ${address ?? `sub=${subject}`} --scope read,change</code>
    </p>
    ${again}
  </section>`,
});
