/** Generates the page of states from the tables that the code uses. */
import path from 'node:path';
import { accessRequestTransitions, reviewStates, workflow } from '@muster/board';
import * as delivery from '@muster/delivery';
import { invitationValidityDays, invitationTransitions } from '@muster/organizations';
import { runEventKinds, runStates } from '@muster/contract';
import { formatted } from '@muster/tools';

/** An arrow. `label` is the cause of the move, or null if there is none but the move itself. */
interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label: string | null;
}

/**
 * A box that is drawn around several states or instead of all of them. An arrow from the box is an arrow from
 * each state.
 */
interface Group {
  readonly title: string;
  readonly states: readonly string[];
}

interface StateDiagram {
  /** The initial state, or null if there are several. */
  readonly first: string | null;
  readonly group: Group | null;
  readonly arrows: readonly Arrow[];
}

const box = 'group';

/**
 * Draws a table of allowed moves between states. States that all lead to one another and to the same other
 * states form a group. Arrows within a group are not drawn.
 */
function drawMoves(table: Readonly<Record<string, readonly string[]>>): StateDiagram {
  const reach = (state: string): string => [...new Set([state, ...(table[state] ?? [])])].sort().join();
  const groups = Map.groupBy(Object.keys(table), reach);
  const [states = [], ...others] = [...groups.values()].filter((members) => members.length > 1);
  if (others.length > 0) throw new Error('more than one group of states: draw each');
  const arrows = Object.entries(table)
    .filter(([from]) => from === states[0] || !states.includes(from))
    .flatMap(([from, targets]) =>
      targets
        .filter((to) => !(states.includes(from) && states.includes(to)))
        .map((to): Arrow => ({ from: from === states[0] ? box : from, to, label: null })),
    );
  const group = states.length > 0 ? { title: 'from each of these to each other', states } : null;
  return { first: null, group, arrows };
}

/**
 * Draws a table of the events in each state. An event that leads from every state to the same one is drawn
 * once, from the group of all states.
 */
function drawEvents(
  first: string,
  table: Readonly<Record<string, Readonly<Record<string, string | undefined>>>>,
): StateDiagram {
  const states = Object.keys(table);
  const arrows = Object.entries(table).flatMap(([from, events]) =>
    Object.entries(events).flatMap(([label, to]) => (to === undefined ? [] : [{ from, to, label }])),
  );
  const isCommon = ({ to, label }: (typeof arrows)[number]): boolean =>
    states.every((state) => table[state]?.[label] === to);
  const common = arrows.filter((arrow) => arrow.from === states[0] && isCommon(arrow));
  if (common.length === 0) return { first, group: null, arrows };
  return {
    first,
    group: { title: 'from any state', states: [] },
    arrows: [
      ...common.map((arrow) => ({ ...arrow, from: box })),
      ...arrows.filter((arrow) => !isCommon(arrow)),
    ],
  };
}

function boxOf(group: Group | null): string[] {
  if (group === null) return [];
  const head = `  state "${group.title}" as ${box}`;
  return group.states.length === 0
    ? [head]
    : [`${head} {`, ...group.states.map((state) => `    ${state}`), '  }'];
}

/** Formats a drawing for Mermaid. */
function mermaid({ first, group, arrows }: StateDiagram): string {
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...boxOf(group),
    ...(first === null ? [] : [`  [*] --> ${first}`]),
    ...arrows.map(({ from, to, label }) => `  ${from} --> ${to}${label === null ? '' : `: ${label}`}`),
    '```',
  ].join('\n');
}

/** The moves between states of an invitation. Refusals and new invitations have no arrows. */
const invitationMoves = Object.fromEntries(
  Object.entries(invitationTransitions).map(([state, actions]) => [
    state,
    Object.fromEntries(
      Object.entries(actions).flatMap(([action, outcome]) => ('to' in outcome ? [[action, outcome.to]] : [])),
    ) as Record<string, string>,
  ]),
);

const anotherFrom = Object.entries(invitationTransitions).flatMap(([state, { invite }]) =>
  'another' in invite ? [state] : [],
);

const invitation = drawEvents('pending', invitationMoves);
const expiry: Arrow = { from: 'pending', to: 'expired', label: `${invitationValidityDays} days go by` };

const review = drawEvents(
  'pending',
  Object.fromEntries(Object.entries(reviewStates).map(([state, { nextStates }]) => [state, nextStates])),
);

/**
 * Draws transitions between states. Transitions between the same two states share an arrow; those that stay
 * in a state have none.
 */
const drawTransitions = (
  transitions: readonly { readonly from: string; readonly to: string; readonly transition: string }[],
): StateDiagram => ({
  first: null,
  group: null,
  arrows: [
    ...Map.groupBy(
      transitions.filter(({ from, to }) => from !== to),
      ({ from, to }) => `${from} ${to}`,
    ).values(),
  ].map((same) => ({
    from: same[0]?.from === 'none' ? '[*]' : (same[0]?.from ?? ''),
    to: same[0]?.to ?? '',
    label: same.map(({ transition }) => transition).join(', '),
  })),
});

const execution = drawTransitions(delivery.visibleTransitions);

const run = drawTransitions(
  ['none', ...runStates.filter((state) => !delivery.isFinalRunState(state))].flatMap((from) =>
    runEventKinds.map((kind) => ({
      from,
      to:
        delivery.runStateByEventKind[kind] ??
        (from === 'none' ? delivery.runStateAfterEvent(kind, undefined) : from),
      transition: kind,
    })),
  ),
);

/** Review states that count when a story is moved to done. */
const weighing = Object.entries(reviewStates)
  .filter(([, { effectOnMove }]) => effectOnMove !== null)
  .map(([state]) => state);

const parts: readonly (readonly [title: string, source: string, sentence: string, drawing: StateDiagram])[] =
  [
    [
      'A story',
      'libs/board/src/rules/workflow.ts',
      "The moves that the workflow has. The organization's policy and the column's limit can refuse a move, too.",
      drawMoves(workflow),
    ],
    [
      'An invitation',
      'libs/organizations/src/rules/invitation-states.ts',
      `A move without an arrow is refused; but inviting an address whose invitation is ${anotherFrom.join(' or ')} makes another invitation.`,
      { ...invitation, arrows: [...invitation.arrows, expiry] },
    ],
    [
      'A request for access',
      'libs/board/src/rules/access-request-states.ts',
      'A request waits, and is decided once: a move without an arrow is refused.',
      drawEvents('pending', accessRequestTransitions),
    ],
    [
      'A review',
      'libs/board/src/rules/review-states.ts',
      `A reviewer gives a verdict; the story moves on from what was reviewed, or comes back to it. Only ${weighing.join(' and ')} count on the way into done.`,
      review,
    ],
    [
      'An execution',
      'libs/delivery/src/leases/states.ts',
      'Work on a story or a delivery group, under a lease. stalled is computed when it is read, never stored. A move without an arrow is refused.',
      execution,
    ],
    [
      'A delivery group',
      'libs/delivery/src/rules/group-states.ts',
      "A move without an arrow is refused. By the organization's policy, landing may need an observed merge, too; a merge alone lands no group.",
      { ...drawMoves(delivery.groupTransitions), first: 'draft' },
    ],
    [
      'A run',
      'libs/delivery/src/rules/run-states.ts',
      `What an agent reports of its run; any event may be the first. Stalled is computed when it is read, never stored: ${delivery.stalledAfterSeconds} seconds without an event and without a live lease. After the end only the same end is accepted, and changes nothing.`,
      run,
    ],
  ];

export async function statesPage(): Promise<string> {
  const text = [
    '# States',
    'Drawn by `npm run generate` from the tables that the code runs on; to change a diagram, change its table.',
    ...parts.flatMap(([title, source, sentence, drawing]) => [
      `## ${title}`,
      `[${path.posix.basename(source)}](../${source}). ${sentence}`,
      mermaid(drawing),
    ]),
  ].join('\n\n');
  return formatted('docs/states.md', text);
}
