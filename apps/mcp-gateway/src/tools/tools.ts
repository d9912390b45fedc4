/** Operation → tool. Every fact of a tool is the contract's; here it is put into the words and the shape of MCP. */
import { type Operation, operations, type Reason, registry } from '@muster/registry';
import { type Tool } from '@modelcontextprotocol/server';
import { coreOperations } from './core.ts';
import { remedyOf } from '../answers/hints.ts';
import { withParameterWords } from './parameter-words.ts';
import {
  clearable,
  type JsonSchema,
  type ObjectSchema,
  paramsSchema,
  resultSchema,
  statedParams,
} from './schemas.ts';

/** Items on a page unless the call says otherwise; the contract's own default is for programs, not for models. */
export const pageForModels = 20;
/** Bytes of an answer unless the call says otherwise. */
export const answerBytes = 10_000;

/** What a client sees of a tool, for each way it can be shown. */
export interface Shown {
  readonly tool: Tool;
  /** With projectId left out, since it is filled in; the same tool where it takes none. */
  readonly withoutProject: Tool;
}

export interface OperationTool extends Shown {
  readonly kind: 'operation';
  readonly name: string;
  readonly toolset: string;
  readonly operation: Operation;
  readonly isList: boolean;
  readonly takesProject: boolean;
  /** What a call may hold, as the contract states it: by this, calls are read. */
  readonly stated: ObjectSchema;
  /** Paths of what a call may clear. */
  readonly clears: readonly string[];
  /** For clients that ask for output schemas. */
  readonly outputSchema: () => ObjectSchema;
}

/** Dots break widely used clients. Operation names have no underscore, so no two become one (tested). */
export const toolNameOf = (operationName: string): string => operationName.replaceAll('.', '_');

/** `updateStatus`, `start_work` → "update status", "start work". */
const inWords = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();

/** For people who choose among tools: "Stories: update status", "Start work". */
export function titleOf(name: string): string {
  const [last = '', ...outer] = name.split('.').toReversed();
  const words = [
    ...(outer.length > 0 ? [`${outer.toReversed().map(inWords).join(' ')}:`] : []),
    inWords(last),
  ].join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const mostDescription = 400;

/** As many whole sentences as have room. */
function sentences(prose: string, room: number): string {
  if (prose.length <= room) return prose;
  const end = Math.max(...[...prose.slice(0, room).matchAll(/[.;](?=\s|$)/g)].map(({ index }) => index), 0);
  return end === 0 ? `${prose.slice(0, room - 1)}…` : `${prose.slice(0, end)}.`;
}

/** Prose beyond this is for `describe_operation` and the reference. */
const mostProse = 110;

/** Any write in a project may hear it, and the instructions say so. */
const saidOnce: Reason = 'archived';

function refusalsText(operation: Operation): string {
  const told = operation.refusals.filter((reason) => reason !== saidOnce);
  const byRemedy = Map.groupBy(told, remedyOf);
  const groups = [...byRemedy].map(
    ([remedy, reasons]) => `${reasons.join(', ')}${remedy === '' ? '' : ` (${remedy})`}`,
  );
  return groups.length === 0 ? '' : ` Refusals: ${groups.join('; ')}.`;
}

/** What the contract says; of null only where it is an answer's, since in a tool it clears nothing. */
export function proseOf({ effect, summary, description }: Operation): string {
  const prose = `${summary}. ${description}`.trim();
  if (effect === 'read') return prose;
  return prose.replaceAll(/, null [^,.;]*/g, '').replaceAll(/[;.]?[^.;]*\bnull\b[^.;]*(?=[.;])/g, '');
}

/** What it does, what comes back, which refusals and what to do then. */
export function descriptionOf(operation: Operation): string {
  const fields = Object.keys(operation.result.shape).filter((field) => field !== 'nextCursor');
  const returns = ` Returns ${fields.slice(0, 8).join(', ')}.`;
  const refusals = refusalsText(operation);
  const room = mostDescription - returns.length - refusals.length;
  return `${sentences(proseOf(operation), Math.min(room, mostProse))}${returns}${refusals}`.slice(
    0,
    mostDescription,
  );
}

export const annotationsOf = ({ effect, idempotent, destructive }: Operation): Tool['annotations'] => ({
  readOnlyHint: effect === 'read',
  destructiveHint: destructive,
  idempotentHint: idempotent,
  // All that is touched is Muster's own.
  openWorldHint: false,
});

/** The parameter by which a call says how long its answer may be, where the operation has none of its own. */
const maxBytes: JsonSchema = { type: 'integer' };
/** The parameter by which a read goes on from where an answer was cut. */
const part: JsonSchema = { type: 'string' };

/** The same in every list, and told by the instructions. */
const toldOnce = ['limit', 'cursor'] as const;

function inputSchemaOf(operation: Operation, clears: readonly string[], isList: boolean): ObjectSchema {
  const schema = paramsSchema(operation.params, clears);
  const properties: Record<string, JsonSchema> = { ...schema.properties };
  if (isList)
    for (const name of toldOnce) {
      const { description: _, ...untold } = properties[name] ?? {};
      if (name in properties) properties[name] = untold;
    }
  else if (operation.effect === 'read')
    // Of one that the operation has itself, the gateway says less where nothing is said.
    Object.assign(
      properties,
      'maxBytes' in properties
        ? { maxBytes: { ...maxBytes, description: `default ${answerBytes}` } }
        : { maxBytes, part },
    );
  const all = { ...schema, properties };
  return coreOperations.has(operation.name) ? withParameterWords(all) : all;
}

export function withoutProject(schema: ObjectSchema): ObjectSchema {
  const { projectId: _, ...properties } = schema.properties;
  const required = schema.required?.filter((name) => name !== 'projectId');
  const { required: __, ...others } = schema;
  return { ...others, properties, ...(required !== undefined && required.length > 0 && { required }) };
}

/** The SDK's type of a schema is open; ours is narrower and fits it. */
export const asInputSchema = (schema: ObjectSchema): Tool['inputSchema'] => schema as Tool['inputSchema'];

function toolOf(operation: Operation): OperationTool {
  const name = toolNameOf(operation.name);
  const isList = 'limit' in operation.params.shape;
  const takesProject = 'projectId' in operation.params.shape;
  const params = statedParams(operation.params);
  const stated =
    operation.effect === 'read'
      ? { ...params, properties: { maxBytes, part, ...params.properties } }
      : params;
  // What is made has nothing yet that could be cleared.
  const clears = operation.idempotent ? clearable(params) : [];
  const inputSchema = inputSchemaOf(operation, clears, isList);
  const tool: Tool = {
    name,
    title: titleOf(operation.name),
    description: descriptionOf(operation),
    inputSchema: asInputSchema(inputSchema),
    annotations: annotationsOf(operation),
  };
  let outputSchema: ObjectSchema | undefined;
  return {
    kind: 'operation',
    name,
    toolset: operation.name.slice(0, operation.name.indexOf('.')),
    operation,
    isList,
    takesProject,
    stated,
    clears,
    tool,
    withoutProject: takesProject
      ? { ...tool, inputSchema: asInputSchema(withoutProject(inputSchema)) }
      : tool,
    outputSchema: () => (outputSchema ??= resultSchema(operation.result)),
  };
}

/** In the order of the registry, which is the order of the list. */
export const operationTools: readonly OperationTool[] = [...operations.values()]
  .filter(({ surfaces }) => surfaces.includes('tool'))
  .map(toolOf);

const byName = new Map(
  operationTools.flatMap((tool) => [
    [tool.name, tool] as const,
    // As the contract and its papers write it.
    [tool.operation.name, tool] as const,
  ]),
);

/** By either spelling. */
export const operationTool = (name: string): OperationTool | undefined => byName.get(name);

/** Whether the text can name a project. */
export const isProjectRef = (text: string): boolean =>
  registry.projects.get.params.shape.projectId.safeParse(text).success;
