/** The whole API on one page: who handles each operation. One that is missing does not compile. */
import { boardHandlers } from '@muster/board';
import { peopleHandlers } from '@muster/people';
import { isOperation } from '@muster/registry';
import { type AllHandlers, type Handler } from '@muster/runtime';
import { signalsHandlers } from '@muster/signals';

export const handlers: AllHandlers = {
  session: peopleHandlers.session,
  projects: boardHandlers.projects,
  boardColumns: boardHandlers.boardColumns,
  epics: boardHandlers.epics,
  stories: boardHandlers.stories,
  storySpec: boardHandlers.storySpec,
  comments: boardHandlers.comments,
  activity: signalsHandlers.activity,
  audit: signalsHandlers.audit,
};

const isHandler = (node: object): node is Handler => 'operation' in node && isOperation(node.operation);

function* flatten(node: object): Generator<Handler> {
  for (const child of Object.values(node) as object[]) {
    if (isHandler(child)) yield child;
    else yield* flatten(child);
  }
}

/** Handlers by the name of their operation. */
export const handlersByName: ReadonlyMap<string, Handler> = new Map(
  [...flatten(handlers)].map((handler) => [handler.operation.name, handler]),
);
