/** The frame of all pages. */
import { createPageFrame, type PageFrameOptions, type RenderedPage, sendRenderedPage } from '@muster/http';
import { type FastifyReply } from 'fastify';

const pageFrame = createPageFrame({
  style: `
.code { max-inline-size: 11rem; font-size: 1.4rem; letter-spacing: .2em; font-variant-numeric: tabular-nums }
.choice { display: flex; gap: var(--s3); align-items: start; padding-block: var(--s1); font-weight: var(--regular) }
.choice small { display: block; color: var(--muted); font-size: var(--text-fact) }
.choice input { flex: none; inline-size: 1.125rem; block-size: 1.125rem; margin: .15rem 0 0; accent-color: var(--accent) }
/* A scrolling box clips its content, so it needs padding for focus rings. */
.within { max-block-size: 15rem; margin-inline-start: 1.5rem; padding: var(--s1); overflow: auto }
main[data-layout] { max-inline-size: 66rem }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); gap: var(--s5); margin-block: var(--s3) }
.within:not(:has(*)) { display: none }
select { max-inline-size: 16rem }
.rows > li > * { flex: 1 1 16rem }
.rows form { margin-block-start: var(--s2) }
`,
});

export interface HtmlPage extends Pick<PageFrameOptions, 'title' | 'body' | 'layout'> {
  readonly status?: number;
  /** The page's script. It may call only its own origin; most pages have none. */
  readonly script?: string;
}

/** Renders a page whose response is sent by other code: by the OAuth provider, or as an error page. */
export const renderPage = (page: HtmlPage): RenderedPage => pageFrame(page);

export const sendPage = (reply: FastifyReply, page: HtmlPage): FastifyReply =>
  sendRenderedPage(reply, renderPage(page), page.status);
