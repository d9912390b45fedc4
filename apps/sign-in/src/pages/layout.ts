/** What all pages have: a frame, and one look for light and dark. */
import { createPageFrame, type Html, html, type RenderedPage } from '@muster/http';
import { type FastifyReply } from 'fastify';

const frame = createPageFrame({
  name: 'Muster',
  style: `
body { font: 16px/1.5 var(--font) }
main { max-width: 27rem; margin: 0 auto; padding: 8vh 1rem 2rem }
.mark { margin: 0 0 1rem; font-weight: 700; letter-spacing: .02em }
section { padding: 1.5rem; border-radius: 12px; background: var(--surface); box-shadow: 0 0 0 1px color-mix(in srgb, var(--field-line) 35%, transparent) }
section + section { margin-top: 1rem }
h1 { margin: 0 0 .5rem; font-size: 1.4rem; line-height: 1.25 }
h2 { margin: 0 0 .5rem; font-size: 1.05rem }
p { margin: 0 0 1rem }
p:last-child, form:last-child { margin-bottom: 0 }
form { margin: 0 0 1rem }
label { display: block; margin-bottom: .35rem; font-weight: 600 }
input { width: 100%; min-height: 2.75rem; margin-bottom: 1rem; padding: .5rem .75rem; border: 1px solid var(--field-line); border-radius: 8px;
  font: inherit; color: inherit; background: transparent }
input.code { max-width: 11rem; font-size: 1.4rem; letter-spacing: .2em; font-variant-numeric: tabular-nums }
button, .button { display: inline-block; width: 100%; min-height: 2.75rem; padding: .55rem 1rem; border: 1px solid var(--accent); border-radius: 8px;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; color: var(--accent-ink); background: var(--accent); cursor: pointer }
.second { color: var(--accent); background: transparent }
select { width: 100%; min-height: 2.75rem; margin-bottom: 1rem; padding: .5rem .75rem; border: 1px solid var(--field-line); border-radius: 8px;
  font: inherit; color: inherit; background: var(--surface) }
fieldset { margin: 0 0 1rem; padding: 0; border: 0 }
legend { margin-bottom: .35rem; padding: 0; font-weight: 600 }
.choice { display: flex; gap: .6rem; align-items: flex-start; margin: 0; padding: .35rem 0; font-weight: 400; overflow-wrap: anywhere }
.choice input { flex: none; width: 1.2rem; min-height: 1.2rem; margin: .15rem 0 0; accent-color: var(--accent) }
/* What scrolls clips: the ring of what has the focus needs the room. */
.within { margin: 0 -5px 0 calc(1.8rem - 5px); padding: 5px; max-height: 15rem; overflow: auto }
button + button { margin-top: .6rem }
ul { margin: 0 0 1rem; padding: 0; list-style: none }
li + li { margin-top: .5rem }
li > a, li > span, li > div { display: block; padding: .6rem .75rem; border: 1px solid var(--field-line); border-radius: 8px; overflow-wrap: anywhere }
li form { margin-top: .6rem }
summary { min-height: 1.75rem; color: var(--accent); cursor: pointer }
.quiet { color: var(--muted); font-size: .925rem }
/* A line below a link is of its name alone. */
a > .quiet { display: inline-block }
.bad { color: var(--red); font-weight: 600 }
.wide { overflow-wrap: anywhere }
`,
});

export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /** What runs on it, and calls nothing but where it comes from; most pages need none. */
  readonly script?: string;
}

/** For an answer by other means than Fastify. */
export const renderPage = ({ title, body, script }: Page): RenderedPage =>
  frame({
    ...{ title, script },
    body: html`<main>
      <p class="mark">Muster</p>
      ${body}
    </main>`,
  });

export const sendPage = (reply: FastifyReply, page: Page): FastifyReply => {
  const { headers, body } = renderPage(page);
  return reply
    .code(page.status ?? 200)
    .headers(headers)
    .send(body);
};
