/** The common frame of all pages, with the style of the product and without scripts. */
import { createPageFrame, type Html, html, type RenderedPage } from '@muster/http';
import { type FastifyReply } from 'fastify';

const renderFrame = createPageFrame({
  name: 'Licenses',
  style: `
body { font: 0.9375rem/1.5 var(--font) }
header, main { max-width: 60rem; margin: 0 auto; padding: 1rem }
main.narrow, header.narrow { max-width: 36rem }
header { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between; padding-top: 1.5rem }
header form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 0 }
header .quiet { overflow-wrap: anywhere }
.mark { font-weight: 600; color: inherit; text-decoration: none }
section { margin-bottom: 1rem; padding: 1.25rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--surface) }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.3; overflow-wrap: anywhere }
h2 { margin: 0 0 .75rem; font-size: 1.125rem; line-height: 1.3 }
p { margin: 0 0 .75rem; max-width: 44rem }
p:last-child, ul:last-child, dl:last-child { margin-bottom: 0 }
label { display: block; margin-bottom: .35rem; font-weight: 500 }
.ask { display: flex; flex-wrap: wrap; gap: .5rem }
.ask + p, form + p { margin-top: .75rem }
.ask input { flex: 1 1 14rem }
input { width: 100%; min-height: 2.5rem; padding: .4rem .7rem; border: 1px solid var(--field-line); border-radius: .5rem; font: inherit; color: inherit; background: transparent }
button { min-height: 2.5rem; padding: .4rem 1rem; border: 1px solid var(--accent); border-radius: .5rem; font: inherit; font-weight: 500; color: var(--accent-ink); background: var(--accent); cursor: pointer }
button.second { color: var(--accent); background: transparent }
ul { margin: 0; padding: 0; list-style: none }
li { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between; padding: .75rem 0; border-top: 1px solid var(--line) }
li:first-child { border-top: 0; padding-top: 0 }
li:last-child { padding-bottom: 0 }
li > div { flex: 1 1 16rem; min-width: 0 }
ul + p { margin-top: 1rem }
li form { margin: 0 }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .35rem 1rem; margin: 0 }
dt { color: var(--muted) }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums }
.quiet { color: var(--muted); font-size: .8125rem }
.wide { overflow-wrap: anywhere }
.state { font-weight: 600; white-space: nowrap }
.active { color: var(--green) } .unactivated { color: var(--muted) } .expired, .suspended { color: var(--amber) } .revoked, .bad { color: var(--red) }
.bad { font-weight: 600 }
`,
});

export interface ServicePage {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /** The content of the page's header next to the name of the service. */
  readonly headerContent?: Html;
  readonly isNarrow?: boolean;
}

export function renderPage({ title, body, headerContent, isNarrow = false }: ServicePage): RenderedPage {
  const width = isNarrow ? 'narrow' : '';
  return renderFrame({
    title,
    body: html`<header class="${width}"><a class="mark" href="/">Licenses</a>${headerContent ?? null}</header>
      <main class="${width}">${body}</main>`,
  });
}

export function sendPage(reply: FastifyReply, page: ServicePage): FastifyReply {
  const { headers, body } = renderPage(page);
  return reply
    .code(page.status ?? 200)
    .headers(headers)
    .send(body);
}

/** Formats a time for people, in UTC. */
export const formatTime = (time: string | null, placeholder = '–'): string =>
  time === null ? placeholder : `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;

export const formatDay = (time: string | null, placeholder: string): string =>
  time === null ? placeholder : time.slice(0, 10);
