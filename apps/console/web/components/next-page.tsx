import { type InfiniteData, type UseInfiniteQueryResult } from '@tanstack/react-query';

interface NextPageButtonProps {
  readonly query: Pick<
    UseInfiniteQueryResult<InfiniteData<unknown> | readonly unknown[]>,
    'data' | 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'
  >;
  readonly name: string;
}

/** The number of pages, or of items if the query selects them. */
const countOf = (data: InfiniteData<unknown> | readonly unknown[] | undefined): number =>
  data === undefined ? 0 : 'pages' in data ? data.pages.length : data.length;

/** Fetches the next page. A live change cancels the fetch, because it refetches the list; the fetch is then repeated. */
async function showNextPage({ data, fetchNextPage }: NextPageButtonProps['query']): Promise<void> {
  const { data: after, isError } = await fetchNextPage();
  if (!isError && countOf(after) === countOf(data)) await fetchNextPage();
}

/** Loads the next page of a list; renders nothing if there is none. */
export const NextPageButton = ({ query, name }: NextPageButtonProps) =>
  query.hasNextPage && (
    <button
      type="button"
      className="button"
      disabled={query.isFetchingNextPage}
      onClick={() => void showNextPage(query)}
    >
      {name}
    </button>
  );
