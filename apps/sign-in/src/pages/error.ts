/** The page that a browser shows for a failed request, for example while the service is overloaded. */
import { acceptsHtml, type RenderErrorPage, errorTitle, html } from '@muster/http';
import { renderPage } from './layout.ts';

export const errorPage: RenderErrorPage = (request, { status, message }) => {
  if (!acceptsHtml(request)) return undefined;
  const title = errorTitle(status);
  return renderPage({
    title,
    body: html`<section class="card">
      <h1>${title}</h1>
      <p>${message}</p>
      ${status < 500 ? html`<p><a class="button" data-kind="main" href="/sign-in">Sign in</a></p>` : html`<p>Reload this page to try again.</p>`}
    </section>`,
  });
};
