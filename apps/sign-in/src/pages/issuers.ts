/** Pages for signing in at a company's identity provider. */
import { type RequiredProof, type ResponsibleProvider } from '../data/providers.ts';
import { type Html, html } from '@muster/http';
import { type HtmlPage } from './layout.ts';
import { passkeyScript } from './passkey-script.ts';
import { passkeyButton } from './passkeys.ts';
import { type SignInMethods } from './pages.ts';

interface SignInTarget {
  readonly to: string;
  readonly email: string;
}

const issuerForm = ({ to, email }: SignInTarget, id: string, label: string): Html =>
  html`<form method="post" action="/auth/issuer">
    <input type="hidden" name="provider" value="${id}" />
    <input type="hidden" name="email" value="${email}" />
    <input type="hidden" name="to" value="${to}" />
    <button class="button" data-kind="main">${label}</button>
  </form>`;

/** Renders the sign-in methods for an address with a responsible issuer. */
export const signInMethodsPage = (
  target: SignInTarget,
  providers: readonly ResponsibleProvider[],
): HtmlPage => ({
  title: 'Sign in',
  body: html`<section class="card">
    <h1>Sign in</h1>
    <p>Signing in as ${target.email}</p>
    ${providers.map(({ id, name, orgName }) =>
      issuerForm(target, id, `Continue with ${name}${providers.length > 1 ? `, for ${orgName}` : ''}`),
    )}
    <form method="post" action="/auth/link">
      <input type="hidden" name="email" value="${target.email}" />
      <input type="hidden" name="to" value="${target.to}" />
      <input type="hidden" name="by" value="mail" />
      <button class="button">E-mail me a link instead</button>
    </form>
    <p class="muted">
      Some organizations require their own sign-in. <a href="/sign-in">Use another e-mail address</a>
    </p>
  </section>`,
});

/** Renders the page that leads to an issuer; browsers continue automatically. */
export const continueToIssuerPage = (name: string, address: string): HtmlPage => ({
  title: 'Continue to sign-in',
  body: html`<section class="card">
    <h1>Continue to ${name}</h1>
    <p>Your browser should open it now. If it doesn’t, use this button.</p>
    <p><a class="button" data-kind="main" href="${address}">Open ${name}</a></p>
  </section>`,
});

export const issuerExpiredPage: HtmlPage = {
  title: 'Sign-in expired',
  status: 410,
  body: html`<section class="card">
    <h1>This sign-in has expired</h1>
    <p>A sign-in can be used once, within 15 minutes, in the browser that started it.</p>
    <p><a class="button" data-kind="main" href="/sign-in">Sign in again</a></p>
  </section>`,
};

const defaultFailureText =
  'You canceled the sign-in, or the answer was not valid. Try again, or sign in with a link by e-mail.';

export const issuerProblemPage = (name: string, text: string = defaultFailureText): HtmlPage => ({
  title: 'Sign-in failed',
  status: 403,
  body: html`<section class="card">
    <h1>${name} could not sign you in</h1>
    <p>${text}</p>
    <p><a class="button" data-kind="main" href="/sign-in">Sign in</a></p>
  </section>`,
});

/** Renders the additional proof that an organization requires. */
export function requiredProofsPage(
  requiredProofs: readonly RequiredProof[],
  target: SignInTarget,
  { passkeys }: SignInMethods,
): HtmlPage {
  const { orgName = '', requiresPasskey = false } = requiredProofs[0] ?? {};
  const named = requiredProofs.flatMap(({ providerId: id, providerName: name }) =>
    id === null || name === null ? [] : [{ id, name }],
  );
  const nothing = named.length === 0 && !requiresPasskey;
  return {
    title: 'Additional sign-in required',
    ...(passkeys && requiresPasskey && { script: passkeyScript }),
    body: html`<section class="card">
      <h1>${orgName} requires an additional sign-in</h1>
      ${nothing ? html`<p>You already meet the requirements and can continue.</p>` : null}
      ${
        named.length === 0
          ? null
          : html`<p>Its members must sign in through its identity provider.</p>
              ${named.map(({ id, name }) => issuerForm(target, id, `Continue with ${name}`))}`
      }
      ${
        requiresPasskey
          ? html`<p>
                Its members must sign in with a passkey. Don’t have one yet?
                <a href="/sign-in/passkeys">Create a passkey</a>
              </p>
              ${passkeys ? passkeyButton(target.to) : null}`
          : null
      }
      <p><a href="/sign-in">Your organizations</a></p>
    </section>`,
  };
}
