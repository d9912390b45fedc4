/** Reads the lists of forges page by page. */
import { getHeader } from '../rules/signatures.ts';
import { type ForgeAnswer, type ForgeRequest, type SendForgeRequest } from './call.ts';

/** Returns true if there is another page. Gitea has 30 items on a page, whatever the request asks for. */
export const hasNextPage = ({ headers }: ForgeAnswer): boolean =>
  /;\s*rel="?next"?/i.test(getHeader(headers, 'link') ?? '');

/** Requests the pages of a list one after another, up to the last one or to the limit. */
export async function* requestPages(
  ask: SendForgeRequest,
  request: Omit<ForgeRequest, 'method'>,
  maxPages: number,
): AsyncGenerator<ForgeAnswer> {
  for (let page = 1; page <= maxPages; page += 1) {
    const url = page === 1 ? request.url : `${request.url}&page=${page}`;
    const answer = await ask({ ...request, method: 'GET', url });
    yield answer;
    if (!hasNextPage(answer)) return;
  }
}
