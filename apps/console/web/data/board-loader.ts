/** Loads the cards of one board, and reloads cards that have changed. */
import { ForbiddenError, NotFoundError } from '@muster/client';
import { type StoryCard } from '@muster/contract';
import { type CardSource } from './card-source.ts';
import { type CardStore } from './card-store.ts';

/** Changes announced within this window are fetched in one request. */
const batchWindowMs = 100;
const retryDelayMs = 1_000;
/** If more cards than this changed within one batch, the whole board is reloaded. */
const maxBatchSize = 200;
/** The page size of the first request. It fills a screen, and is small so that the response arrives soon. */
const firstPageSize = 200;
/** Time between reloads during an import or after a failed reload. */
const reloadDelayMs = 2_000;

/** Returns true if the viewer may not see the project. */
const isProjectHidden = (failure: unknown): boolean =>
  failure instanceof ForbiddenError || failure instanceof NotFoundError;

function createCardRequests(source: CardSource, store: CardStore) {
  const { cards } = store;

  async function list(params: Parameters<CardSource['fetchPage']>[0]) {
    const question = cards.nextRequestId();
    return { question, ...(await source.fetchPage(params)) };
  }

  async function fetchCards(ids: readonly string[]): Promise<readonly StoryCard[]> {
    const { question, items } = await list({ storyIds: [...ids], limit: maxBatchSize });
    const found = new Set(items.map(({ id }) => id));
    for (const id of ids) if (!found.has(id)) cards.removeMissing(id, question);
    store.storeAndHighlight(items, question);
    return items;
  }

  /**
   * Loads pages up to about `cardLimit` cards, and shows each as it arrives. Ends early if it is superseded. Resolves
   * to the cursor of the page after the last one.
   */
  async function loadPages(
    first: Awaited<ReturnType<typeof list>>,
    cardLimit: number,
    isSuperseded: () => boolean,
    onPage: (items: readonly StoryCard[], isLast: boolean, hasMore: boolean) => void,
  ): Promise<string | null> {
    let page = first;
    for (let examinedCards = firstPageSize; ; examinedCards += source.pageSize) {
      cards.storeResponse(page.items, page.question);
      const { nextCursor } = page;
      // A page with few cards counts in full, because it may have examined many stories.
      const isLast = nextCursor === null || examinedCards >= cardLimit;
      onPage(page.items, isLast, nextCursor !== null);
      if (isLast) return nextCursor;
      page = await list({ limit: source.pageSize, cursor: nextCursor });
      if (isSuperseded()) return null;
    }
  }

  return { list, fetchCards, loadPages };
}

/** Fetches changed cards in batches. */
function createCardBatches(
  store: CardStore,
  fetchCards: (ids: readonly string[]) => Promise<unknown>,
  reload: () => Promise<void>,
) {
  const { cards } = store;
  const changed = new Set<string>();
  let batchTimer: ReturnType<typeof setTimeout> | undefined;
  /** Time of the last batch, by the page's clock. */
  let lastBatchMs = Number.NEGATIVE_INFINITY;

  /** Fetches cards in the next batch. */
  function refresh(ids: Iterable<string>): void {
    for (const id of ids) changed.add(id);
    if (changed.size === 0) return;
    batchTimer ??= setTimeout(
      () => void fetchBatch(),
      Math.max(0, lastBatchMs + batchWindowMs - performance.now()),
    );
  }

  async function fetchBatch(): Promise<void> {
    const ids = [...changed];
    changed.clear();
    batchTimer = undefined;
    lastBatchMs = performance.now();
    if (ids.length > maxBatchSize) return reload();
    // The card of a parent counts its children, so the former and the new parents are fetched, too.
    const parentsOf = () => ids.flatMap((id) => cards.get(id)?.parentId ?? []);
    const formerParents = parentsOf();
    try {
      await fetchCards(ids);
      refresh(new Set([...formerParents, ...parentsOf()]));
    } catch (failure) {
      if (isProjectHidden(failure)) {
        store.updateView({ state: 'failed', failure });
        return;
      }
      lastBatchMs += retryDelayMs;
      refresh(ids);
    }
  }

  return { refresh, stopRefreshing: () => clearTimeout(batchTimer) };
}

export type BoardLoader = ReturnType<typeof createBoardLoader>;

export function createBoardLoader(source: CardSource, store: CardStore) {
  const { cards } = store;
  const { list, fetchCards, loadPages } = createCardRequests(source, store);
  let cardLimit = source.cardLimit;
  let reloadTimer: ReturnType<typeof setTimeout> | undefined;
  let latestLoad = 0;
  /** The cursor at which the limit ended loading; null while cards load, and after the last one. */
  let nextCursor: string | null = null;

  /** Loads the cards from this cursor on, or from the beginning. The current cards stay visible until new ones arrive. */
  async function load(cursor: string | null): Promise<void> {
    latestLoad += 1;
    const loadId = latestLoad;
    const isSuperseded = (): boolean => loadId !== latestLoad;
    nextCursor = null;
    try {
      const [{ project, columns }, first] = await Promise.all([
        source.fetchHead(),
        list({ limit: firstPageSize, ...(cursor !== null && { cursor }) }),
      ]);
      if (isSuperseded()) return;
      store.setColumns(columns);
      const missing = new Set(cursor === null ? cards.all().keys() : []);
      const limit = cursor === null ? cardLimit : source.cardLimit;
      const last = await loadPages(first, limit, isSuperseded, (items, isLast, hasMore) => {
        for (const { id } of items) missing.delete(id);
        store.updateView({
          ...{ state: 'ready', failure: null, project },
          ...{ areAllCardsLoaded: isLast, hasMore: isLast && hasMore },
        });
      });
      if (isSuperseded()) return;
      nextCursor = last;
      for (const id of missing) if (!store.pendingWriteIds.has(id)) cards.removeMissing(id, first.question);
      store.updateView();
    } catch (failure) {
      if (isSuperseded()) return;
      if (store.view().state !== 'ready' || isProjectHidden(failure))
        store.updateView({ state: 'failed', failure });
      else reloadSoon();
    }
  }

  const reload = (): Promise<void> => load(null);
  const { refresh, stopRefreshing } = createCardBatches(store, fetchCards, reload);

  /**
   * Reloads the board after a delay. Calls during the delay are combined, because an import announces its
   * stories in many calls.
   */
  function reloadSoon(): void {
    reloadTimer ??= setTimeout(() => {
      reloadTimer = undefined;
      void reload();
    }, reloadDelayMs);
  }

  /** Raises the limit of the source, and loads further cards up to it. */
  function loadMore(): Promise<void> {
    cardLimit += source.cardLimit;
    return load(nextCursor);
  }

  /** Stops loading and refreshing. */
  function close(): void {
    latestLoad += 1;
    stopRefreshing();
    clearTimeout(reloadTimer);
  }

  return { reload, reloadSoon, refresh, fetchCards, loadMore, close };
}
