/** Loads the cards of one board, and reloads cards that have changed. */
import { ForbiddenError, NotFoundError } from '@muster/client';
import { type StoryCard } from '@muster/registry';
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

  /** Loads pages up to about `cardLimit` cards, and shows each as it arrives. Ends early if it is superseded. */
  async function loadPages(
    first: Awaited<ReturnType<typeof list>>,
    cardLimit: number,
    isSuperseded: () => boolean,
    onPage: (items: readonly StoryCard[], isLast: boolean, hasMore: boolean) => void,
  ): Promise<void> {
    let page = first;
    for (let examinedCards = firstPageSize; ; examinedCards += source.pageSize) {
      cards.storeResponse(page.items, page.question);
      const { nextCursor } = page;
      // A page with few cards counts in full, because it may have examined many stories.
      const isLast = nextCursor === null || examinedCards >= cardLimit;
      onPage(page.items, isLast, nextCursor !== null);
      if (isLast) return;
      page = await list({ limit: source.pageSize, cursor: nextCursor });
      if (isSuperseded()) return;
    }
  }

  return { list, fetchCards, loadPages };
}

export type BoardLoader = ReturnType<typeof createBoardLoader>;

export function createBoardLoader(source: CardSource, store: CardStore) {
  const { cards } = store;
  const { list, fetchCards, loadPages } = createCardRequests(source, store);
  let cardLimit = source.cardLimit;
  const changed = new Set<string>();
  let batchTimer: ReturnType<typeof setTimeout> | undefined;
  /** Time of the last batch, by the page's clock. */
  let lastBatchMs = Number.NEGATIVE_INFINITY;
  let reloadTimer: ReturnType<typeof setTimeout> | undefined;
  let latestReload = 0;

  /** Reloads the board. Current cards stay visible until the new ones arrive. */
  async function reload(): Promise<void> {
    latestReload += 1;
    const reloadId = latestReload;
    const isSuperseded = (): boolean => reloadId !== latestReload;
    try {
      const [{ project, columns }, first] = await Promise.all([
        source.fetchHead(),
        list({ limit: firstPageSize }),
      ]);
      if (isSuperseded()) return;
      store.setColumns(columns);
      const missing = new Set(cards.all().keys());
      await loadPages(first, cardLimit, isSuperseded, (items, isLast, hasMore) => {
        for (const { id } of items) missing.delete(id);
        store.updateView({
          ...{ state: 'ready', failure: null, project },
          ...{ areAllCardsLoaded: isLast, hasMore: isLast && hasMore },
        });
      });
      if (isSuperseded()) return;
      for (const id of missing) if (!store.pendingWriteIds.has(id)) cards.removeMissing(id, first.question);
      store.updateView();
    } catch (failure) {
      if (isSuperseded()) return;
      if (store.view().state !== 'ready' || isProjectHidden(failure))
        store.updateView({ state: 'failed', failure });
      else reloadSoon();
    }
  }

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

  /** Raises the limit of the source, and loads the cards up to it. */
  function loadMore(): Promise<void> {
    cardLimit += source.cardLimit;
    return reload();
  }

  return { reload, reloadSoon, refresh, fetchCards, loadMore };
}
