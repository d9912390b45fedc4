/** The shared frame and styles of all pages, for light and dark mode. */
import { createNarrowFrame, type Html, type RenderedPage } from '@muster/http';
import { type FastifyReply } from 'fastify';

const pageFrame = createNarrowFrame({
  name: 'Muster',
  style: `
input.code { max-width: 11rem; font-size: 1.4rem; letter-spacing: .2em; font-variant-numeric: tabular-nums }
select { width: 100%; min-height: 2.75rem; margin-bottom: 1rem; padding: .5rem .75rem; border: 1px solid var(--field-line); border-radius: 8px;
  font: inherit; color: inherit; background: var(--surface) }
fieldset { margin: 0 0 1rem; padding: 0; border: 0 }
legend { margin-bottom: .35rem; padding: 0; font-weight: 600 }
.choice { display: flex; gap: .6rem; align-items: flex-start; margin: 0; padding: .35rem 0; font-weight: 400; overflow-wrap: anywhere }
.choice small { display: block; color: var(--muted); font-size: .875rem }
.choice input { flex: none; width: 1.2rem; min-height: 1.2rem; margin: .15rem 0 0; accent-color: var(--accent) }
/* A scrolling box clips its content, so it needs padding for focus rings. */
.within { margin: 0 -5px 0 calc(1.8rem - 5px); padding: 5px; max-height: 15rem; overflow: auto }
button + button { margin-top: .6rem }
dl { margin: 0 0 1rem }
dt { color: var(--muted); font-size: .925rem }
dd { margin: 0 0 .35rem }
ul { margin: 0 0 1rem; padding: 0; list-style: none }
li + li { margin-top: .5rem }
li > a, li > span, li > div { display: block; padding: .6rem .75rem; border: 1px solid var(--field-line); border-radius: 8px; overflow-wrap: anywhere }
li form { margin-top: .6rem }
summary { min-height: 1.75rem; color: var(--accent); cursor: pointer }
/* Keep the underline of a link below its name only. */
a > .quiet { display: inline-block }
`,
});

export interface HtmlPage {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /** The page's script. It may call only its own origin; most pages have none. */
  readonly script?: string;
}

/** Renders a page whose response is sent by other code: by the OAuth provider, or as an error page. */
export const renderPage = ({ title, body, script }: HtmlPage): RenderedPage =>
  pageFrame({ title, body, script });

export const sendPage = (reply: FastifyReply, page: HtmlPage): FastifyReply => {
  const { headers, body } = renderPage(page);
  return reply
    .code(page.status ?? 200)
    .headers(headers)
    .send(body);
};
