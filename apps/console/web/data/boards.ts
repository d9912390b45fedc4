/** The boards that are open: their cards, kept current by events, with writes shown before they are answered. */
import { type Client, isRefusal } from '@muster/client';
import { type BulkStoryResult, type Event, type InputOf, type Story, type StoryCard } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { type BoardLoader, createBoardLoader } from './board-loader.ts';
import {
  type CardSource,
  createProjectSource,
  createSearchSource,
  type StorySearchParams,
} from './card-source.ts';
import { CardStore } from './card-store.ts';
import { moveParameters, type TargetPosition } from './lanes.ts';
import { endsLeasesAndAssignments } from './stale.ts';

export { type BoardView } from './card-store.ts';

export type ChangeOutcome =
  /** `story` and `version` are those after the write, if the response contains them. */
  | {
      readonly type: 'changed';
      readonly warnings?: readonly string[];
      readonly story?: Story;
      readonly version?: number;
    }
  /** Someone else wrote the same field first. */
  | { readonly type: 'met'; readonly theirs: StoryCard }
  /** `error` is an exception, or the reason in words. */
  | { readonly type: 'refused'; readonly error: unknown };

/** A change of the same fields on several cards. */
export interface CardsChange {
  readonly set: InputOf<Registry['stories']['updateMany']>['set'];
  /** Returns true if someone else's change of the card left the fields of this change alone. */
  readonly isUntouched: (known: StoryCard, theirs: StoryCard) => boolean;
}

/** The maximum number of stories in one call. */
const maxBatchSize = 200;

export class Board {
  readonly #client: Client;
  readonly #store = new CardStore();
  readonly #loader: BoardLoader;
  /** The key or id of the project; null if the cards are of several projects. */
  readonly projectId: string | null;
  readonly reload: BoardLoader['reload'];
  readonly refreshCards: BoardLoader['refresh'];
  readonly fetchCards: BoardLoader['fetchCards'];
  readonly loadMore: BoardLoader['loadMore'];
  readonly close: BoardLoader['close'];
  readonly previewMove = this.#store.previewMove;
  readonly view = this.#store.view;
  readonly subscribe = this.#store.subscribe;
  readonly card = this.#store.cards.get;
  readonly cards = (): Iterable<StoryCard> => this.#store.cards.all().values();

  constructor(client: Client, source: CardSource) {
    this.#client = client;
    this.projectId = source.projectId;
    this.#loader = createBoardLoader(source, this.#store);
    this.reload = this.#loader.reload;
    this.refreshCards = this.#loader.refresh;
    this.fetchCards = this.#loader.fetchCards;
    this.loadMore = this.#loader.loadMore;
    this.close = this.#loader.close;
    void this.reload();
  }

  handleEvent(event: Event): void {
    if (event.subject.type === 'story') this.refreshCards([event.subject.id]);
    // The cards of a search are not in columns.
    else if ((this.projectId === null ? /^project\./ : /^(columns?|project)\./).test(event.kind))
      void this.reload();
    else if (event.kind.startsWith('import.')) this.#loader.reloadSoon();
  }

  /** Shows the card at its new position immediately, and at its old position again if the API refuses the move. */
  async move(id: string, place: TargetPosition, knownCard = this.card(id)): Promise<ChangeOutcome> {
    if (knownCard === undefined) return { type: 'refused', error: undefined };
    this.previewMove(id, place);
    const { columnId } = place;
    const lane = this.view().lanes.find(({ column }) => column.id === columnId)?.cards ?? [];
    const moved = { storyId: id, columnId, ...moveParameters(lane, place, id) };
    const changed = await this.#writeCard(
      knownCard,
      (expectedVersion) => this.#client.stories.reorder({ ...moved, expectedVersion }),
      (theirs) => theirs.columnId === knownCard.columnId && theirs.rank === knownCard.rank,
    );
    this.previewMove(id, null);
    return changed;
  }

  /**
   * Moves a card back to where it was. Throws if the card was changed since it had this version. `formerRanks` has
   * the former rank of each card that is in its former place again, but with another rank.
   */
  async moveBack(
    { id, columnId, rank, status }: StoryCard,
    expectedVersion: number,
    formerRanks: ReadonlyMap<string, string> = new Map(),
  ): Promise<void> {
    const lane = this.view().lanes.find(({ column }) => column.id === columnId)?.cards ?? [];
    const rankOf = (card: StoryCard): string => formerRanks.get(card.id) ?? card.rank;
    const following = lane.find((other) => other.id !== id && rankOf(other) > rank);
    const neighbor = moveParameters(lane, { columnId: columnId ?? '', beforeId: following?.id ?? null }, id);
    const { story } = await (columnId === null
      ? this.#client.stories.updateStatus({ storyId: id, status, expectedVersion })
      : this.#client.stories.reorder({ storyId: id, columnId, ...neighbor, expectedVersion }));
    this.#store.storeWrittenStory(story);
  }

  async create(title: string, columnId: string): Promise<StoryCard | undefined> {
    const { projectId } = this;
    if (projectId === null) return undefined;
    const { story } = await this.#client.stories.create({ projectId, title, columnId });
    this.#store.storeWrittenStory(story);
    return this.card(story.id);
  }

  setPriority(card: StoryCard, priority: StoryCard['priority']): Promise<ChangeOutcome> {
    this.#store.patch(card.id, { priority });
    return this.#writeCard(
      card,
      (expectedVersion) => this.#client.stories.update({ storyId: card.id, priority, expectedVersion }),
      (theirs) => theirs.priority === card.priority || theirs.priority === priority,
    );
  }

  /** Makes the same change to several cards, in their order. Returns one outcome per card. */
  async changeMany(cards: readonly StoryCard[], change: CardsChange): Promise<readonly ChangeOutcome[]> {
    const outcomes: ChangeOutcome[] = [];
    for (let start = 0; start < cards.length; start += maxBatchSize)
      outcomes.push(...(await this.#changeBatch(cards.slice(start, start + maxBatchSize), change)));
    return outcomes;
  }

  /** Shows the change immediately, and the server's cards once the API has answered. */
  async #changeBatch(cards: readonly StoryCard[], change: CardsChange): Promise<ChangeOutcome[]> {
    const { columnId, priority, epicId, dueDate } = change.set;
    const column = this.view().lanes.find((lane) => lane.column.id === columnId)?.column;
    const status = change.set.status ?? column?.status;
    const ids = cards.map(({ id }) => id);
    for (const id of ids) {
      this.#store.pendingWriteIds.add(id);
      this.#store.patch(id, {
        ...(status !== undefined && { status }),
        ...(priority != null && { priority }),
        ...(epicId !== undefined && { epicId }),
        ...(dueDate !== undefined && { dueDate }),
      });
      if (columnId !== undefined) this.previewMove(id, { columnId, beforeId: null });
    }
    try {
      const results = await this.#sendBatch(cards, change);
      await this.fetchCards(ids);
      return ids.map((id): ChangeOutcome => {
        const result = results.get(id);
        if (result?.outcome === 'changed' && result.version !== null)
          return { type: 'changed', version: result.version };
        if (result?.outcome !== 'refused') return { type: 'changed' };
        const theirs = this.card(id);
        const isMet = result.reason === 'version_mismatch' && theirs !== undefined;
        return isMet ? { type: 'met', theirs } : { type: 'refused', error: result.message };
      });
    } catch (error) {
      this.refreshCards(ids);
      return ids.map(() => ({ type: 'refused', error }));
    } finally {
      for (const id of ids) {
        this.#store.pendingWriteIds.delete(id);
        this.previewMove(id, null);
      }
    }
  }

  /**
   * Sends the change. Retries it once for cards of which someone else changed other fields in the meantime. Returns
   * the results by card.
   */
  async #sendBatch(
    cards: readonly StoryCard[],
    { set, isUntouched }: CardsChange,
  ): Promise<ReadonlyMap<string, BulkStoryResult>> {
    const send = async (known: readonly StoryCard[]): Promise<[string, BulkStoryResult][]> => {
      const { results } = await this.#client.stories.updateMany({
        ...{ storyIds: known.map(({ id }) => id), set },
        expectedVersions: Object.fromEntries(known.map(({ id, version }) => [id, version])),
      });
      return results.map((result) => [result.storyId, result]);
    };
    const first = new Map(await send(cards));
    const outdated = cards.filter(({ id }) => first.get(id)?.reason === 'version_mismatch');
    if (outdated.length === 0) return first;
    const current = await this.fetchCards(outdated.map(({ id }) => id));
    const again = current.filter((theirs) =>
      outdated.some((known) => known.id === theirs.id && isUntouched(known, theirs)),
    );
    return again.length === 0 ? first : new Map([...first, ...(await send(again))]);
  }

  /** Changes the assigned member, the assigned agent, or both. A field that is not in `who` stays unchanged. */
  async assign(card: StoryCard, who: Partial<StoryCard['assignees']>): Promise<ChangeOutcome> {
    const { id, assignees } = card;
    this.#store.patch(id, { assignees: { ...assignees, ...who } });
    const changed = await this.#writeCard(card, async () => {
      await this.#client.assignments.set({
        ...{ targetType: 'story', targetId: id },
        ...(who.member !== undefined && { memberId: who.member?.id ?? null }),
        ...(who.agent !== undefined && { agentId: who.agent?.id ?? null }),
      });
      return {};
    });
    this.refreshCards([id]);
    // An assignment does not change the version of a story.
    return changed.type === 'changed' ? { ...changed, version: card.version } : changed;
  }

  /**
   * Sends a write whose result is already shown, and fetches the card if the API refuses the write. If
   * someone else changed the card in the meantime, but according to `isUntouched` not the fields of this
   * write, sends the write again for the new version.
   */
  async #writeCard(
    { id, version }: StoryCard,
    call: (
      expectedVersion: number,
    ) => Promise<{ story?: Story; warnings?: readonly { readonly message: string }[] }>,
    isUntouched: (theirs: StoryCard) => boolean = () => false,
  ): Promise<ChangeOutcome> {
    this.#store.pendingWriteIds.add(id);
    try {
      const { story, warnings } = await call(version).catch(async (error: unknown) => {
        if (!isRefusal(error, 'version_mismatch')) throw error;
        const [theirs] = await this.fetchCards([id]);
        if (theirs !== undefined && isUntouched(theirs)) return call(theirs.version);
        throw error;
      });
      if (story !== undefined) this.#store.storeWrittenStory(story);
      return {
        type: 'changed',
        ...(story && { story, version: story.version }),
        ...(warnings && { warnings: warnings.map(({ message }) => message) }),
      };
    } catch (error) {
      const theirs = this.card(id);
      if (isRefusal(error, 'version_mismatch') && theirs !== undefined) return { type: 'met', theirs };
      this.refreshCards([id]);
      return { type: 'refused', error };
    } finally {
      this.#store.pendingWriteIds.delete(id);
      this.#store.updateView();
    }
  }
}

/**
 * The boards that were opened in this window. They stay current while other pages are open, so a board is
 * shown immediately when the reader returns.
 */
export class Boards {
  readonly #client: Client;
  /** The boards that were opened in this window, by the keys of their projects. */
  readonly openBoards = new Map<string, Board>();

  readonly #searches = new Set<Board>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Returns the board of a project, named by its key as in addresses. Creates the board on first use. */
  getOrCreate(projectKey: string): Board {
    let board = this.openBoards.get(projectKey);
    if (board === undefined) {
      board = new Board(this.#client, createProjectSource(this.#client, projectKey));
      this.openBoards.set(projectKey, board);
    }
    return board;
  }

  /** Opens the stories of all projects that match a search. Call `closeSearch` when they are no longer shown. */
  openSearch(search: StorySearchParams): Board {
    const board = new Board(this.#client, createSearchSource(this.#client, search));
    this.#searches.add(board);
    return board;
  }

  closeSearch(board: Board): void {
    this.#searches.delete(board);
    board.close();
  }

  handleEvent(event: Event): void {
    if (endsLeasesAndAssignments(event)) this.reloadAll();
    for (const board of this.#allBoards()) {
      const { project } = board.view();
      // A search has no project. Until the project of a board is known, a read that is in progress may return data
      // from before the event. The board then handles every event.
      if (project === null || project.id === event.projectId) board.handleEvent(event);
    }
  }

  reloadAll(): void {
    for (const board of this.#allBoards()) void board.reload();
  }

  #allBoards(): Iterable<Board> {
    return [...this.openBoards.values(), ...this.#searches];
  }
}
