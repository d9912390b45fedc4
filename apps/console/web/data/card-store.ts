/** The visible state of a board: the server's cards, with pending moves applied. */
import { type BoardColumn, type Project, type Story, type StoryCard } from '@muster/contract';
import { Cards } from './cards.ts';
import { type Lane, applyPendingMoves, type TargetPosition, groupCardsIntoLanes } from './lanes.ts';

export interface BoardView {
  readonly state: 'loading' | 'ready' | 'failed';
  readonly failure: unknown;
  readonly project: Project | null;
  readonly lanes: readonly Lane[];
  /** The lanes as the server stores them, without pending moves. */
  readonly serverLanes: readonly Lane[];
  /** True once all cards are loaded; until then a column shows the project's count. */
  readonly areAllCardsLoaded: boolean;
  /** True if loading ended at the limit of the source, so that there may be more cards. */
  readonly hasMore: boolean;
  /** Cards that someone else has just changed. */
  readonly fresh: ReadonlySet<string>;
}

const highlightDurationMs = 1_600;

/** The initial values of the parts of a card that its story does not contain. */
const initialCardParts = {
  assignees: { member: null, agent: null },
  counts: { openThreads: 0, openBlockers: 0, reviewers: 0 },
  children: null,
  execution: null,
  agentResponse: null,
};

export class CardStore {
  /** Ids of cards with writes whose response has not arrived. */
  readonly pendingWriteIds = new Set<string>();
  readonly cards = new Cards(() => (this.#isDirty = true));
  readonly #moves = new Map<string, TargetPosition>();
  readonly #watchers = new Set<() => void>();
  #columns: readonly BoardColumn[] = [];
  /** True if cards or columns have changed since the cards were last sorted into lanes. */
  #isDirty = true;
  #view: BoardView = {
    state: 'loading',
    failure: null,
    project: null,
    lanes: [],
    serverLanes: [],
    areAllCardsLoaded: false,
    hasMore: false,
    fresh: new Set(),
  };

  readonly view = (): BoardView => this.#view;

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  };

  updateView(changes: Partial<BoardView> = {}): void {
    const { serverLanes: before, lanes: shown } = this.#view;
    const standing = this.#isDirty ? groupCardsIntoLanes(this.#columns, this.cards.all(), before) : before;
    this.#isDirty = false;
    const lanes = applyPendingMoves(standing, this.cards.all(), this.#moves, shown);
    this.#view = { ...this.#view, ...changes, serverLanes: standing, lanes };
    for (const onChange of this.#watchers) onChange();
  }

  setColumns(columns: readonly BoardColumn[]): void {
    this.#columns = columns.filter(({ archivedAt }) => archivedAt === null);
    this.#isDirty = true;
  }

  /** Keeps the cards and highlights for a moment those that someone else changed. */
  storeAndHighlight(cards: readonly StoryCard[], requestId: number): void {
    const changed = cards.filter(
      ({ id, version }) => version !== this.cards.get(id)?.version && !this.pendingWriteIds.has(id),
    );
    this.cards.storeResponse(cards, requestId);
    this.updateView({ fresh: new Set([...this.#view.fresh, ...changed.map(({ id }) => id)]) });
    if (changed.length === 0) return;
    setTimeout(() => {
      const fresh = new Set(this.#view.fresh);
      for (const { id } of changed) fresh.delete(id);
      this.updateView({ fresh });
    }, highlightDurationMs);
  }

  /**
   * Shows a card at another position without moving it on the server. Pass null to show the card at its own
   * position again.
   */
  readonly previewMove = (id: string, place: TargetPosition | null): void => {
    if (place === null) this.#moves.delete(id);
    else this.#moves.set(id, place);
    this.updateView();
  };

  /** Shows a change before the server has answered. */
  patch(id: string, patch: Partial<StoryCard>): void {
    this.cards.applyPatch(id, patch);
    this.updateView();
  }

  /** Stores the story from the response of a write, before the event about that write arrives. */
  storeWrittenStory(story: Story): void {
    const { id, key, title, rank, columnId, status, priority, labels } = story;
    const { estimate, epicId, parentId, dueDate, blocked, updatedAt, version } = story;
    this.cards.storeWrittenCard({
      ...(this.cards.get(id) ?? initialCardParts),
      ...{ id, key, title, rank, columnId, status, priority, labels },
      ...{ estimate, epicId, parentId, dueDate, blocked, updatedAt, version },
    });
    this.updateView();
  }
}
