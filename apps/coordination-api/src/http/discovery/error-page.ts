/** The pages that a browser shows for failed requests. Programs always get the error as JSON. */
import { acceptsHtml, errorTitle, type RenderErrorPage } from '@muster/http';
import { type FastifyRequest } from 'fastify';
import { type Addresses } from './addresses.ts';
import { renderHtmlPage } from './layout.ts';

/** Returns true if the request comes from a browser. Operations are below /api and /hooks. */
const isFromBrowser = (request: FastifyRequest): boolean =>
  acceptsHtml(request) && !/^\/(?:api|hooks)(?:[/?]|$)/.test(request.url);

const isNavigation = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD';

export function createErrorPage(addresses: Addresses): RenderErrorPage {
  const { docsUrl, hasConsole } = addresses;
  const ways = [
    '[Home page](/)',
    ...(hasConsole ? ['[Console](/console/): the board, stories and agents at work'] : []),
    '[Reference](/reference): every operation of the API',
    ...(docsUrl === null ? [] : [`[Guides](${docsUrl}): first steps, concepts, how to run it`]),
  ];
  const notFoundPage = renderHtmlPage({
    title: 'Page not found',
    summary: 'There is no page at this address.',
    markdown: `# Page not found\n\nThe address may be mistyped, or the page has moved. Try one of these:\n\n${ways.map((way) => `- ${way}`).join('\n')}\n`,
  });
  return (request, { status, message, details }) => {
    if (!isFromBrowser(request)) return undefined;
    if (details.reason === 'no_such_path') return isNavigation(request) ? notFoundPage : undefined;
    if (status !== 429 && status < 500) return undefined;
    const title = errorTitle(status);
    const remedy = isNavigation(request) ? 'Reload this page' : 'Go back';
    return renderHtmlPage({
      ...{ title, summary: message },
      markdown: `# ${title}\n\n${message}\n\n${remedy} to try again.\n`,
    });
  };
}
