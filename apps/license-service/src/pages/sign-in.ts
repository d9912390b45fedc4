/** Renders the sign-in pages of support. */
import { html, type Html } from '@muster/http';
import { type ServicePage } from './layout.ts';

export interface SignInPageData {
  /** The name of the operators' issuer; undefined if people sign in by token. */
  readonly issuerName: string | undefined;
  /** The path that the browser opens after sign-in. */
  readonly to: string;
  readonly problem: string | undefined;
}

const issuerSignInForm = (issuerName: string, returnPath: string): Html =>
  html`<form method="post" action="/support/issuer">
    <input type="hidden" name="to" value="${returnPath}" />
    <button class="button" data-kind="main">Continue with ${issuerName}</button>
  </form>`;

const tokenSignInForm = (returnPath: string, problem: string | undefined): Html =>
  html`<form method="post" action="/support/sign-in">
      <input type="hidden" name="to" value="${returnPath}" />
      <label for="token">Token</label>
      <div class="ask">
        <input
          class="field"
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          autofocus
          ${problem === undefined ? null : html` aria-invalid="true" aria-describedby="problem"`}
        />
        <button class="button" data-kind="main">Sign in</button>
      </div>
    </form>
    <p class="muted">
      An operator creates it with <code>license token new --name NAME --scope read,change</code>
    </p>`;

export const signInPage = ({ issuerName, to, problem }: SignInPageData): ServicePage => ({
  title: 'Support',
  ...(problem !== undefined && { status: 401 }),
  body: html`<section class="card">
    <h1>Sign in to support</h1>
    ${problem === undefined ? null : html`<p class="form-error" id="problem" role="alert">${problem}</p>`}
    ${issuerName === undefined ? tokenSignInForm(to, problem) : issuerSignInForm(issuerName, to)}
  </section>`,
});

/** Renders the page that leads to the issuer. A refresh header makes browsers continue automatically. */
export const continueToIssuerPage = (issuerName: string, address: string): ServicePage => ({
  title: 'Continue to sign-in',
  body: html`<section class="card">
    <h1>Continue to ${issuerName}</h1>
    <p>Your browser should open it now. If it does not, <a href="${address}">open ${issuerName}</a>.</p>
  </section>`,
});

const signInLink = html`<p><a href="/support">Sign in</a></p>`;

export const signInExpiredPage: ServicePage = {
  title: 'Sign-in expired',
  status: 410,
  body: html`<section class="card">
    <h1>This sign-in has expired</h1>
    <p>A sign-in can be used once, within 15 minutes, in the browser that started it.</p>
    ${signInLink}
  </section>`,
};

export const issuerProblemPage = (issuerName: string): ServicePage => ({
  title: 'You could not be signed in',
  status: 403,
  body: html`<section class="card">
    <h1>${issuerName} could not sign you in</h1>
    <p>You canceled the sign-in, or its answer was not valid. Try again.</p>
    ${signInLink}
  </section>`,
});

export interface MissingGrant {
  /** The verified e-mail address; undefined if the issuer has none. */
  readonly address: string | undefined;
  readonly subject: string;
}

export const notGrantedPage = ({ address, subject }: MissingGrant): ServicePage => ({
  title: 'No access',
  status: 403,
  body: html`<section class="card">
    <h1>You don’t have access</h1>
    <p>
      ${
        address === undefined
          ? html`You are signed in as <strong>${subject}</strong>, without a verified e-mail address.`
          : html`You are signed in as <strong>${address}</strong>.`
      }
    </p>
    <p>Ask the operator of this service to give you access:</p>
    <p>
      <code>license operator grant ${address ?? `sub=${subject}`} --scope read,change</code>
    </p>
    ${signInLink}
  </section>`,
});
