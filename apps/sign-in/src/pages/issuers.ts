/** Pages for signing in at a company's identity provider. */
import { type AskedProof, type NamedProvider } from '../data/providers.ts';
import { type Html, html } from '@muster/http';
import { type Page } from './layout.ts';
import { passkeyScript } from './passkey-script.ts';
import { passkeyButton } from './passkeys.ts';
import { type Ways } from './pages.ts';

interface Going {
  readonly to: string;
  readonly email: string;
}

const issuerForm = ({ to, email }: Going, id: string, label: string): Html =>
  html`<form method="post" action="/auth/issuer">
    <input type="hidden" name="provider" value="${id}" />
    <input type="hidden" name="email" value="${email}" />
    <input type="hidden" name="to" value="${to}" />
    <button>${label}</button>
  </form>`;

/** Renders the sign-in methods for an address with a responsible issuer. */
export const waysPage = (going: Going, providers: readonly NamedProvider[]): Page => ({
  title: 'Sign in',
  body: html`<section>
    <h1>Sign in</h1>
    <p class="wide">As ${going.email}.</p>
    ${providers.map(({ id, name, orgName }) =>
      issuerForm(going, id, `Continue with ${name}${providers.length > 1 ? `, for ${orgName}` : ''}`),
    )}
    <form method="post" action="/auth/link">
      <input type="hidden" name="email" value="${going.email}" />
      <input type="hidden" name="to" value="${going.to}" />
      <input type="hidden" name="by" value="mail" />
      <button class="second">Mail me a link instead</button>
    </form>
    <p class="quiet">
      An organization may let in only who came by its own sign-in. <a href="/sign-in">Another address</a>
    </p>
  </section>`,
});

/** Renders the page that leads to an issuer; browsers continue automatically. */
export const leadOnPage = (name: string, address: string): Page => ({
  title: 'On to your sign-in',
  body: html`<section>
    <h1>On to ${name}</h1>
    <p><a class="button" href="${address}">Go on</a></p>
    <p class="quiet">If your browser does not go on by itself.</p>
  </section>`,
});

export const issuerOverPage: Page = {
  title: 'Signing in is over',
  status: 410,
  body: html`<section>
    <h1>This took too long, or was done</h1>
    <p>
      Signing in at your organization is good once, for a quarter of an hour, in the browser that began it.
    </p>
    <p><a class="button" href="/sign-in">Begin again</a></p>
  </section>`,
};

const noAnswer =
  'It gave no answer that fits, or you stopped there. Try again, or have a link mailed to you.';

export const issuerProblemPage = (name: string, text: string = noAnswer): Page => ({
  title: 'You could not be signed in',
  status: 403,
  body: html`<section>
    <h1>You could not be signed in by ${name}</h1>
    <p>${text}</p>
    <p><a class="button" href="/sign-in">Sign in</a></p>
  </section>`,
});

/** Renders the additional proof that an organization requires. */
export function askedProofsPage(asked: readonly AskedProof[], going: Going, { passkeys }: Ways): Page {
  const { orgName = '', requiresPasskey = false } = asked[0] ?? {};
  const named = asked.flatMap(({ providerId: id, providerName: name }) =>
    id === null || name === null ? [] : [{ id, name }],
  );
  const nothing = named.length === 0 && !requiresPasskey;
  return {
    title: 'One more proof',
    ...(passkeys && requiresPasskey && { script: passkeyScript }),
    body: html`<section>
      <h1>${orgName} asks for more</h1>
      ${nothing ? html`<p>You can go in as you are.</p>` : null}
      ${
        named.length === 0
          ? null
          : html`<p>It lets in only who was signed in by its own sign-in.</p>
              ${named.map(({ id, name }) => issuerForm(going, id, `Continue with ${name}`))}`
      }
      ${
        requiresPasskey
          ? html`<p>
                It lets in only who showed a passkey. Have you none? <a href="/sign-in/passkeys">Make one</a>
              </p>
              ${passkeys ? passkeyButton(going.to) : null}`
          : null
      }
      <p><a href="/sign-in">Your organizations</a></p>
    </section>`,
  };
}
