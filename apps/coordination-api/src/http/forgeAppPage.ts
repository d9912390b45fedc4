/** The page that creates a GitHub App: a form that posts the manifest to GitHub. It has no script. */
import { type AppPage } from '@muster/forges';
import { type Html, html, type RenderedPage } from '@muster/http';
import { framePage } from './framePage.ts';

export interface AppPageOptions {
  /** The secret in the page's URL. */
  readonly ticket: string;
  readonly path: string;
  readonly organization: string | undefined;
  /** True if GitHub redirected the browser here after creating the app. */
  readonly isMade: boolean;
}

/** Refresh interval of the page while Muster fetches the app's keys. */
const lookAgainSeconds = 2;

const page = (title: string, body: Html, formsTo?: string): RenderedPage =>
  framePage({
    ...{ title, formsTo },
    body: html`<section>
      <h1>${title}</h1>
      ${body}
    </section>`,
  });

const installing = (url: string): RenderedPage =>
  page(
    'The GitHub App is made',
    html`<p>
        Muster has its keys. What is left is to install it where the code is, and to link those repositories
        to projects by <code>forges.repositories.link</code>.
      </p>
      <a class="button" href="${url}">Install it on repositories</a>`,
  );

function fetching(): RenderedPage {
  const { headers, body } = page(
    'One moment',
    html`<p>GitHub made the app. Muster is fetching its keys.</p>`,
  );
  return { headers: { ...headers, refresh: String(lookAgainSeconds) }, body };
}

export function forgeAppPage(
  shown: AppPage,
  { ticket, path, organization, isMade }: AppPageOptions,
): RenderedPage {
  if (shown.state === 'made') return installing(shown.installUrl);
  if (shown.state === 'taken')
    return page(
      'This connection has credentials',
      html`<p>
        Take them away by <code>forges.update</code> first, then ask for a new page with
        <code>rotateSecret</code>.
      </p>`,
    );
  const { failure, action, manifest } = shown;
  if (isMade && failure === null) return fetching();
  return page(
    'Make a GitHub App',
    html`${
        failure === null
          ? null
          : html`<p class="bad" role="alert">
              The app that was made is of no use: ${failure}. Delete it at GitHub, and make another.
            </p>`
      }
      <p>
        GitHub makes an app that tells Muster of pull requests and checks, and shows the check
        <code>muster</code>. It reads code, pull requests and checks, and writes checks. GitHub asks you
        before it makes it.
      </p>
      <form action="${action}" method="post">
        <input type="hidden" name="manifest" value="${manifest}" />
        <button>Make the app for ${organization ?? 'your own account'}</button>
      </form>
      <form action="${path}" method="get">
        <input type="hidden" name="ticket" value="${ticket}" />
        <label for="organization">Or of an organization at GitHub</label>
        <input
          id="organization"
          name="organization"
          required
          maxlength="39"
          autocomplete="off"
          spellcheck="false"
          value="${organization ?? ''}"
        />
        <button class="second">Choose it</button>
      </form>`,
    new URL(action).origin,
  );
}

export const refusedPage = (message: string): RenderedPage =>
  page(
    'This page is over',
    html`<p class="bad" role="alert">${message}</p>
      <p>An admin gets another one by <code>forges.update</code> with <code>rotateSecret</code>.</p>`,
  );
