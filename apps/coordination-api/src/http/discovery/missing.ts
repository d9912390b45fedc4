/** The page that a browser shows for an unknown path. Programs always get the error as JSON. */
import { acceptsHtml, type RenderErrorPage } from '@muster/http';
import { type FastifyRequest } from 'fastify';
import { type Addresses } from './addresses.ts';
import { renderHtmlPage } from './layout.ts';

/** Returns true if a browser opens a page. Operations are below /api and /hooks. */
const isNavigation = (request: FastifyRequest): boolean =>
  (request.method === 'GET' || request.method === 'HEAD') &&
  acceptsHtml(request) &&
  !/^\/(?:api|hooks)(?:[/?]|$)/.test(request.url);

export function createNotFoundPage(addresses: Addresses): RenderErrorPage {
  const { docsUrl, hasConsole } = addresses;
  const ways = [
    '[Home page](/)',
    ...(hasConsole ? ['[Console](/console/): the board, stories and agents at work'] : []),
    '[Reference](/reference): every operation of the API',
    ...(docsUrl === null ? [] : [`[Guides](${docsUrl}): first steps, concepts, how to run it`]),
  ];
  const page = renderHtmlPage({
    title: 'Page not found',
    summary: 'There is no page at this address.',
    markdown: `# Page not found\n\nThe address may be mistyped, or the page has moved. Try one of these:\n\n${ways.map((way) => `- ${way}`).join('\n')}\n`,
  });
  return (request, { details }) =>
    details.reason === 'no_such_path' && isNavigation(request) ? page : undefined;
}
