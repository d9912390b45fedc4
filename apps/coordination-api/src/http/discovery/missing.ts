/** What a browser shows at a path that is not there. Programs get the error as JSON, whatever the path. */
import { type RenderedPage } from '@muster/http';
import { type FastifyRequest } from 'fastify';
import { type Addresses } from './addresses.ts';
import { htmlPage } from './layout.ts';

/** Whether a browser goes there: programs take anything (`*​/*`), or JSON, and call operations below /api. */
const isNavigation = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  headers.accept?.includes('text/html') === true &&
  !/^\/(?:api|hooks)(?:[/?]|$)/.test(url);

export function missingPageOf(addresses: Addresses): (request: FastifyRequest) => RenderedPage | undefined {
  const { docsUrl, hasConsole } = addresses;
  const ways = [
    '[What is here](/)',
    ...(hasConsole ? ['[Console](/console/): the board, stories and agents at work'] : []),
    '[Reference](/reference): every operation of the API',
    ...(docsUrl === null ? [] : [`[Guides](${docsUrl}): first steps, concepts, how to run it`]),
  ];
  const page = htmlPage({
    title: 'There is no such page',
    summary: 'There is no page at this address.',
    markdown: `# There is no such page\n\nThe address may be mistyped, or the page was moved. From here:\n\n${ways.map((way) => `- ${way}`).join('\n')}\n`,
  });
  return (request) => (isNavigation(request) ? page : undefined);
}
