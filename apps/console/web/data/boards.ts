/** The boards that are open: cards as the server has them, kept so by its events, with moves shown before they are answered. */
import { type Client, ForbiddenError, isRefusal, MusterError, NotFoundError } from '@muster/client';
import {
  type BoardColumn,
  type Event,
  type InputOf,
  type Project,
  type Registry,
  type Story,
  type StoryCard,
} from '@muster/registry';
import { Cards } from './cards.ts';
import { type Lane, movedLanes, neighbourOf, type Place, standingLanes } from './lanes.ts';
import { endsHoldings } from './stale.ts';

export interface BoardView {
  readonly state: 'loading' | 'ready' | 'failed';
  readonly failure: unknown;
  readonly project: Project | null;
  readonly lanes: readonly Lane[];
  /** The same without moves that are on their way. */
  readonly standing: readonly Lane[];
  /** Whether all cards are there; until then a column's count is the project's. */
  readonly isWhole: boolean;
  /** A move that met a change by another, which waits for a decision. */
  readonly conflict: Conflict | null;
  /** Cards that another has just changed. */
  readonly fresh: ReadonlySet<string>;
}

export interface Conflict {
  readonly mine: Place;
  readonly theirs: StoryCard;
}

export type Outcome =
  | { readonly type: 'moved'; readonly warnings: readonly string[] }
  | { readonly type: 'conflict' }
  | { readonly type: 'refused'; readonly error: unknown };

export type Changed =
  | { readonly type: 'changed' }
  /** Another wrote the same field meanwhile. */
  | { readonly type: 'met'; readonly theirs: StoryCard }
  | { readonly type: 'refused'; readonly error: unknown };

/** Between two reads of cards at least so long; what is said to have changed meanwhile is read together. */
const gatherMillis = 100;
/** After a read that failed so much later. */
const againMillis = 1_000;
/** More changed cards than that are read with their board. */
const mostAtOnce = 200;
const pageSize = 1_000;
/** What a screen has room for comes first, and soon. */
const firstPageSize = 200;
const freshMillis = 1_600;
/** While an import goes on, or reads fail, a board is read anew so often. */
const soonMillis = 2_000;

/** What is answered to those who may not see the project. */
const isHidden = (failure: unknown): boolean =>
  failure instanceof ForbiddenError || failure instanceof NotFoundError;

export class Board {
  readonly #client: Client;
  readonly projectId: string;
  readonly #cards = new Cards(() => (this.#isStirred = true));
  readonly #moves = new Map<string, Place>();
  /** Moves that were asked for and are not answered yet. */
  readonly #asked = new Set<string>();
  readonly #changed = new Set<string>();
  readonly #watchers = new Set<() => void>();
  #columns: readonly BoardColumn[] = [];
  /** Whether cards or columns changed since they were put in order. */
  #isStirred = true;
  #view: BoardView = {
    ...{ state: 'loading', failure: null, project: null, lanes: [], standing: [], isWhole: false },
    conflict: null,
    fresh: new Set(),
  };
  #gathering: ReturnType<typeof setTimeout> | undefined;
  /** When cards were read last, by the page's clock. */
  #gathered = Number.NEGATIVE_INFINITY;
  #reading: ReturnType<typeof setTimeout> | undefined;
  #reads = 0;

  constructor(client: Client, projectId: string) {
    this.#client = client;
    this.projectId = projectId;
    void this.read();
  }

  readonly view = (): BoardView => this.#view;
  readonly subscribe = (changed: () => void): (() => void) => {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  };
  readonly card = (id: string): StoryCard | undefined => this.#cards.get(id);
  readonly cards = (): Iterable<StoryCard> => this.#cards.all().values();

  /** All of it anew. What is shown stays until the new cards are there. */
  async read(): Promise<void> {
    this.#reads += 1;
    const read = this.#reads;
    const isOld = (): boolean => read !== this.#reads;
    try {
      const page = (cursor?: string) =>
        this.#list({
          ...{ sort: 'board', limit: cursor === undefined ? firstPageSize : pageSize },
          ...(cursor !== undefined && { cursor }),
        });
      const [{ project, columns }, first] = await Promise.all([
        this.#client.projects.get({ projectId: this.projectId }),
        page(),
      ]);
      if (isOld()) return;
      this.#columns = columns.filter(({ archivedAt }) => archivedAt === null);
      this.#isStirred = true;
      const seen = new Set<string>();
      let { question, items, nextCursor } = first;
      for (;;) {
        for (const { id } of items) seen.add(id);
        this.#cards.keep(items, question);
        this.#show({ state: 'ready', failure: null, project, isWhole: nextCursor === null });
        if (nextCursor === null) break;
        ({ question, items, nextCursor } = await page(nextCursor));
        if (isOld()) return;
      }
      for (const id of this.#cards.all().keys())
        if (!seen.has(id) && !this.#asked.has(id)) this.#cards.drop(id, first.question);
      this.#show({});
    } catch (failure) {
      if (isOld()) return;
      if (this.#view.state !== 'ready' || isHidden(failure)) this.#show({ state: 'failed', failure });
      else this.#readSoon();
    }
  }

  /** Cards, and by which question they were asked for. */
  async #list(wanted: Omit<InputOf<Registry['stories']['list']>, 'projectId' | 'view'>) {
    const question = this.#cards.ask();
    const { items, nextCursor } = await this.#client.stories.list({
      ...{ ...wanted, projectId: this.projectId, view: 'card' },
    });
    return { question, items, nextCursor };
  }

  #show(more: Partial<BoardView>): void {
    const { standing: before, lanes: shown } = this.#view;
    const standing = this.#isStirred ? standingLanes(this.#columns, this.#cards.all(), before) : before;
    this.#isStirred = false;
    const lanes = movedLanes(standing, this.#cards.all(), this.#moves, shown);
    this.#view = { ...this.#view, ...more, standing, lanes };
    for (const changed of this.#watchers) changed();
  }

  hear(event: Event): void {
    if (event.subject.type === 'story') this.ask([event.subject.id]);
    else if (/^(column|columns|project)\./.test(event.kind)) void this.read();
    else if (event.kind.startsWith('import.')) this.#readSoon();
  }

  /** After a read that failed; and an import says of many stories at once that they changed, call by call. */
  #readSoon(): void {
    this.#reading ??= setTimeout(() => {
      this.#reading = undefined;
      void this.read();
    }, soonMillis);
  }

  /** Cards to be read anew, with all others that are asked for at about the same time. */
  ask(ids: Iterable<string>): void {
    for (const id of ids) this.#changed.add(id);
    if (this.#changed.size === 0 || this.#gathering !== undefined) return;
    const wait = Math.max(0, this.#gathered + gatherMillis - performance.now());
    this.#gathering = setTimeout(() => void this.#gather(), wait);
  }

  async #gather(): Promise<void> {
    const ids = [...this.#changed];
    this.#changed.clear();
    this.#gathering = undefined;
    this.#gathered = performance.now();
    if (ids.length > mostAtOnce) {
      await this.read();
      return;
    }
    try {
      const { question, items } = await this.#list({ storyIds: ids, limit: mostAtOnce });
      const found = new Set(items.map(({ id }) => id));
      const others = items.filter(
        (card) => card.version !== this.#cards.get(card.id)?.version && !this.#asked.has(card.id),
      );
      for (const id of ids) if (!found.has(id)) this.#cards.drop(id, question);
      this.#cards.keep(items, question);
      this.#show({ fresh: new Set([...this.#view.fresh, ...others.map(({ id }) => id)]) });
      if (others.length > 0) setTimeout(() => this.#wither(others), freshMillis);
    } catch (error) {
      // Who may not see the project any more would hear the same again.
      if (isHidden(error)) {
        this.#show({ state: 'failed', failure: error });
        return;
      }
      this.#gathered += againMillis;
      this.ask(ids);
    }
  }

  #wither(cards: readonly StoryCard[]): void {
    const fresh = new Set(this.#view.fresh);
    for (const { id } of cards) fresh.delete(id);
    this.#show({ fresh });
  }

  /** Shows a card where it would stand; nothing is asked for. Null takes it back. */
  preview(id: string, place: Place | null): void {
    if (place === null) this.#moves.delete(id);
    else this.#moves.set(id, place);
    this.#show({});
  }

  /** Moves a card at once, and takes it back where the move is refused. */
  async move(id: string, place: Place, known = this.#cards.get(id)): Promise<Outcome> {
    if (known === undefined) return { type: 'refused', error: undefined };
    this.#moves.set(id, place);
    this.#asked.add(id);
    this.#show({ conflict: null });
    const lane = this.#view.lanes.find(({ column }) => column.id === place.columnId)?.cards ?? [];
    const ask = (expectedVersion: number) =>
      this.#client.stories.reorder({
        ...{ storyId: id, columnId: place.columnId, expectedVersion },
        ...neighbourOf(lane, place, id),
      });
    try {
      const { story, warnings } = await ask(known.version).catch(async (error: unknown) => {
        if (!isRefusal(error, 'version_mismatch')) throw error;
        const theirs = await this.#readOne(id);
        // What they changed is not where it stands: both changes have room.
        if (theirs?.columnId === known.columnId && theirs.rank === known.rank) return ask(theirs.version);
        throw error;
      });
      this.#adopt(story);
      return { type: 'moved', warnings: warnings.map(({ message }) => message) };
    } catch (error) {
      const theirs = this.#cards.get(id);
      if (isRefusal(error, 'version_mismatch') && theirs !== undefined) {
        this.#show({ conflict: { mine: place, theirs } });
        return { type: 'conflict' };
      }
      // The neighbour may be what has gone.
      if (error instanceof MusterError) this.ask([id]);
      return { type: 'refused', error };
    } finally {
      this.#moves.delete(id);
      this.#asked.delete(id);
      this.#show({});
    }
  }

  settle(): void {
    this.#show({ conflict: null });
  }

  async #readOne(id: string): Promise<StoryCard | undefined> {
    const { question, items } = await this.#list({ storyIds: [id] });
    this.#cards.keep(items, question);
    return items[0];
  }

  /** What a write answered, before its event is heard. */
  #adopt(story: Story): void {
    const known = this.#cards.get(story.id);
    const { title, rank, columnId, status, priority, labels, estimate, epicId, blocked, updatedAt, version } =
      story;
    this.#cards.adopt({
      ...{ id: story.id, key: story.key, title, rank, columnId, status, priority, labels, estimate, epicId },
      ...{ blocked, updatedAt, version },
      assignees: known?.assignees ?? { member: null, agent: null },
      counts: known?.counts ?? { openThreads: 0, openBlockers: 0, reviewers: 0 },
      execution: known?.execution ?? null,
    });
  }

  async create(title: string, columnId: string): Promise<StoryCard | undefined> {
    const { story } = await this.#client.stories.create({ projectId: this.projectId, title, columnId });
    this.#adopt(story);
    this.#show({});
    return this.#cards.get(story.id);
  }

  /** Off the board. Throws where that is refused. */
  async cancel({ id, version }: StoryCard): Promise<void> {
    const { story } = await this.#client.stories.updateStatus({
      ...{ storyId: id, status: 'canceled', expectedVersion: version },
    });
    this.#adopt(story);
    this.#show({});
  }

  /** Shown at once, and taken back where it is refused. A version that another wrote is overwritten where it is the one that is known. */
  async setPriority(
    { id, priority: was, version }: StoryCard,
    priority: StoryCard['priority'],
  ): Promise<Changed> {
    this.#patch(id, { priority });
    const ask = (expectedVersion: number) =>
      this.#client.stories.update({ storyId: id, priority, expectedVersion });
    try {
      const { story } = await ask(version).catch(async (error: unknown) => {
        if (!isRefusal(error, 'version_mismatch')) throw error;
        const theirs = await this.#readOne(id);
        // What they changed is something else: both changes have room.
        if (theirs?.priority === was || theirs?.priority === priority) return ask(theirs.version);
        throw error;
      });
      this.#adopt(story);
      return { type: 'changed' };
    } catch (error) {
      const theirs = this.#cards.get(id);
      if (isRefusal(error, 'version_mismatch') && theirs !== undefined) return { type: 'met', theirs };
      this.ask([id]);
      return { type: 'refused', error };
    } finally {
      this.#asked.delete(id);
      this.#show({});
    }
  }

  /** To a person or an agent, or to none; the other stays. */
  async assign({ id, assignees }: StoryCard, who: Partial<StoryCard['assignees']>): Promise<Changed> {
    this.#patch(id, { assignees: { ...assignees, ...who } });
    try {
      await this.#client.assignments.set({
        ...{ targetType: 'story', targetId: id },
        ...(who.member !== undefined && { memberId: who.member?.id ?? null }),
        ...(who.agent !== undefined && { agentId: who.agent?.id ?? null }),
      });
      return { type: 'changed' };
    } catch (error) {
      return { type: 'refused', error };
    } finally {
      this.#asked.delete(id);
      this.ask([id]);
    }
  }

  #patch(id: string, patch: Partial<StoryCard>): void {
    this.#asked.add(id);
    this.#cards.patch(id, patch);
    this.#show({});
  }
}

/** Every board that was looked at: it stays live, so that coming back shows it at once. */
export class Boards {
  readonly #client: Client;
  readonly #open = new Map<string, Board>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** By the project's key, as addresses have it. */
  of(projectKey: string): Board {
    let board = this.#open.get(projectKey);
    if (board === undefined) {
      board = new Board(this.#client, projectKey);
      this.#open.set(projectKey, board);
    }
    return board;
  }

  /** The labels of a board that was looked at, the most used first; nothing is read for it. */
  labelsOf(projectKey: string): string[] {
    const counts = new Map<string, number>();
    for (const { labels } of this.#open.get(projectKey)?.cards() ?? [])
      for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
    return [...counts].toSorted(([, one], [, other]) => other - one).map(([label]) => label);
  }

  hear(event: Event): void {
    if (endsHoldings(event)) this.resync();
    for (const board of this.#open.values()) {
      const { project } = board.view();
      // Before it is known which project it is, the read that is under way may be older than the event.
      if (project === null || project.id === event.projectId) board.hear(event);
    }
  }

  resync(): void {
    for (const board of this.#open.values()) void board.read();
  }
}
