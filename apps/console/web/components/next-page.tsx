import { type UseInfiniteQueryResult } from '@tanstack/react-query';

interface NextPageButtonProps {
  readonly query: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;
  readonly name: string;
}

/** Loads the next page of a list; renders nothing if there is none. */
export const NextPageButton = ({ query, name }: NextPageButtonProps) =>
  query.hasNextPage && (
    <button
      type="button"
      className="button"
      disabled={query.isFetchingNextPage}
      onClick={() => void query.fetchNextPage()}
    >
      {name}
    </button>
  );
