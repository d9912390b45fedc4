/** The page that creates a GitHub App: a form that posts the manifest to GitHub. It has no script. */
import { type AppPage } from '@muster/forges';
import { type Html, html, type RenderedPage } from '@muster/http';
import { renderFramedPage } from './framePage.ts';

export interface AppPageOptions {
  /** The secret in the page's URL. */
  readonly ticket: string;
  readonly path: string;
  readonly organization: string | undefined;
  /** True if GitHub redirected the browser here after creating the app. */
  readonly isAppCreated: boolean;
}

/** Refresh interval of the page while Muster fetches the app's keys. */
const refreshSeconds = 2;

const renderPage = (title: string, body: Html, formsTo?: string): RenderedPage =>
  renderFramedPage({
    ...{ title, formActionSource: formsTo },
    body: html`<section class="card">
      <h1>${title}</h1>
      ${body}
    </section>`,
  });

const renderInstallPage = (url: string): RenderedPage =>
  renderPage(
    'GitHub App created',
    html`<p>
        Muster has received its keys. Now install the app on your repositories. Then link the repositories to
        projects with <code>forges.repositories.link</code>.
      </p>
      <a class="button" data-kind="main" href="${url}">Install on repositories</a>`,
  );

function renderFetchingKeysPage(): RenderedPage {
  const { headers, body } = renderPage(
    'One moment',
    html`<p>GitHub created the app. Muster is fetching its keys.</p>`,
  );
  return { headers: { ...headers, refresh: String(refreshSeconds) }, body };
}

export function renderForgeAppPage(
  appPage: AppPage,
  { ticket, path, organization, isAppCreated }: AppPageOptions,
): RenderedPage {
  if (appPage.state === 'made') return renderInstallPage(appPage.installUrl);
  if (appPage.state === 'taken')
    return renderPage(
      'This connection already has credentials',
      html`<p>
        Remove them with <code>forges.update</code> first. Then get a new page with <code>rotateSecret</code>.
      </p>`,
    );
  const { failure, action, manifest } = appPage;
  if (isAppCreated && failure === null) return renderFetchingKeysPage();
  return renderPage(
    'Create GitHub App',
    html`${
        failure === null
          ? null
          : html`<p class="form-error" role="alert">
              The app can’t be used: ${failure}. Delete it on GitHub and create another one.
            </p>`
      }
      <p>
        This creates a GitHub App that notifies Muster of pull requests and checks, and adds the check
        <code>muster</code>. It can read code, pull requests and checks, and write checks. GitHub asks you to
        confirm.
      </p>
      <form action="${action}" method="post">
        <input type="hidden" name="manifest" value="${manifest}" />
        <button class="button" data-kind="main">Create for ${organization ?? 'my account'}</button>
      </form>
      <form action="${path}" method="get">
        <input type="hidden" name="ticket" value="${ticket}" />
        <label for="organization">Or for a GitHub organization</label>
        <input
          class="field"
          id="organization"
          name="organization"
          required
          maxlength="39"
          autocomplete="off"
          spellcheck="false"
          value="${organization ?? ''}"
        />
        <button class="button">Use this organization</button>
      </form>`,
    new URL(action).origin,
  );
}

export const renderRefusedPage = (message: string): RenderedPage =>
  renderPage(
    'This page has expired',
    html`<p class="form-error" role="alert">${message}</p>
      <p>An admin can get a new page with <code>forges.update</code> and <code>rotateSecret</code>.</p>`,
  );
