/** Converts operations of the contract into MCP tools. */
import { type Operation, type ErrorReason } from '@muster/contract';
import { operations, registry } from '@muster/registry';
import { type Tool } from '@modelcontextprotocol/server';
import { coreOperations } from './core.ts';
import { shortRemedyOf } from '../answers/hints.ts';
import { addParameterDescriptions } from './parameter-words.ts';
import {
  listClearablePaths,
  type ToolSchema,
  type ObjectSchema,
  compactParamsSchema,
  resultSchema,
  fullParamsSchema,
} from './schemas.ts';

/** Default page size. The contract's own default is meant for programs rather than models. */
export const modelPageSize = 20;
/** Default maximum size of a result in bytes. */
export const defaultAnswerBytes = 10_000;

/** A tool in each form that clients see. */
export interface ToolForms {
  readonly tool: Tool;
  /**
   * The tool without its projectId parameter, which the connection fills in. If the tool has no projectId
   * parameter, this is the unchanged tool.
   */
  readonly withoutProject: Tool;
}

export interface OperationTool extends ToolForms {
  readonly kind: 'operation';
  readonly name: string;
  readonly toolset: string;
  readonly operation: Operation;
  readonly isList: boolean;
  readonly takesProject: boolean;
  /** The complete parameters of the contract, which arguments are checked against. */
  readonly fullParams: ObjectSchema;
  /** Paths that a call may clear. */
  readonly clearablePaths: readonly string[];
  /** Creates the output schema, for clients that request it. */
  readonly outputSchema: () => ObjectSchema;
}

/**
 * Converts an operation's name. Dots break widely used clients. Operation names contain no underscore, so all
 * tool names differ; a spec checks this.
 */
export const toolNameOf = (operationName: string): string => operationName.replaceAll('.', '_');

/** Splits a name into words: `updateStatus`, `start_work` → "update status", "start work". */
const splitNameWords = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();

/** Derives a title for people who choose among tools: "Stories: update status", "Start work". */
export function toolTitleOf(name: string): string {
  const [last = '', ...outer] = name.split('.').toReversed();
  const words = [
    ...(outer.length > 0 ? [`${outer.toReversed().map(splitNameWords).join(' ')}:`] : []),
    splitNameWords(last),
  ].join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const maxDescriptionChars = 400;

/** Returns as many whole sentences as fit. */
function fitSentences(prose: string, maxChars: number): string {
  if (prose.length <= maxChars) return prose;
  const end = Math.max(
    ...[...prose.slice(0, maxChars).matchAll(/[.;](?=\s|$)/g)].map(({ index }) => index),
    0,
  );
  return end === 0 ? `${prose.slice(0, maxChars - 1)}…` : `${prose.slice(0, end)}.`;
}

/** Maximum length of the prose. `describe_operation` and the reference show all of it. */
const maxProseChars = 110;

/** A refusal that any write in a project may cause; the server's instructions explain it once. */
const reasonInInstructions: ErrorReason = 'archived';

function describeRefusals(operation: Operation): string {
  const told = operation.refusals.filter((reason) => reason !== reasonInInstructions);
  const byRemedy = Map.groupBy(told, shortRemedyOf);
  const groups = [...byRemedy].map(
    ([remedy, reasons]) => `${reasons.join(', ')}${remedy === '' ? '' : ` (${remedy})`}`,
  );
  return groups.length === 0 ? '' : ` Refusals: ${groups.join('; ')}.`;
}

/**
 * Returns the contract's prose. For writes it drops sentences about null, because null clears nothing in a
 * tool.
 */
export function contractProseOf({ effect, summary, description }: Operation): string {
  const prose = `${summary}. ${description}`.trim();
  if (effect === 'read') return prose;
  return prose.replaceAll(/, null [^,.;]*/g, '').replaceAll(/[;.]?[^.;]*\bnull\b[^.;]*(?=[.;])/g, '');
}

/** Describes what the operation does and returns, its refusals, and their remedies. */
export function toolDescriptionOf(operation: Operation): string {
  const fields = Object.keys(operation.result.shape).filter((field) => field !== 'nextCursor');
  const returns = ` Returns ${fields.slice(0, 8).join(', ')}.`;
  const refusals = describeRefusals(operation);
  const room = maxDescriptionChars - returns.length - refusals.length;
  return `${fitSentences(contractProseOf(operation), Math.min(room, maxProseChars))}${returns}${refusals}`.slice(
    0,
    maxDescriptionChars,
  );
}

export const toolAnnotationsOf = ({ effect, idempotent, destructive }: Operation): Tool['annotations'] => ({
  readOnlyHint: effect === 'read',
  destructiveHint: destructive,
  idempotentHint: idempotent,
  // Tools affect only Muster's own data.
  openWorldHint: false,
});

/**
 * The parameter that limits the size of a result. Operations that have their own `maxBytes` parameter do not
 * get it.
 */
const maxBytesSchema: ToolSchema = { type: 'integer' };
/** The parameter that continues reading a text or list that was cut. */
const partSchema: ToolSchema = { type: 'string' };

/** Parameters that are equal in every list; the server's instructions explain them once. */
const undescribedListParameters = ['limit', 'cursor'] as const;

function inputSchemaOf(
  operation: Operation,
  clearablePaths: readonly string[],
  isList: boolean,
): ObjectSchema {
  const schema = compactParamsSchema(operation.params, clearablePaths);
  // Programs report what a run used; a model does not know it. Calls may still contain it.
  const { usage: _usage, ...properties }: Record<string, ToolSchema> = schema.properties;
  if (isList)
    for (const name of undescribedListParameters) {
      const { description: _, ...untold } = properties[name] ?? {};
      if (name in properties) properties[name] = untold;
    }
  else if (operation.effect === 'read')
    // The gateway's default for the operation's own maxBytes is lower than the contract's.
    Object.assign(
      properties,
      'maxBytes' in properties
        ? { maxBytes: { ...maxBytesSchema, description: `default ${defaultAnswerBytes}` } }
        : { maxBytes: maxBytesSchema, part: partSchema },
    );
  const all = { ...schema, properties };
  return coreOperations.has(operation.name) ? addParameterDescriptions(all) : all;
}

export function removeProjectParam(schema: ObjectSchema): ObjectSchema {
  const { projectId: _, ...properties } = schema.properties;
  const required = schema.required?.filter((name) => name !== 'projectId');
  const { required: __, ...others } = schema;
  return { ...others, properties, ...(required !== undefined && required.length > 0 && { required }) };
}

/** Casts a schema to the SDK's type, which is wider. */
export const asInputSchema = (schema: ObjectSchema): Tool['inputSchema'] => schema as Tool['inputSchema'];

function createOperationTool(operation: Operation): OperationTool {
  const name = toolNameOf(operation.name);
  const isList = 'limit' in operation.params.shape;
  const takesProject = 'projectId' in operation.params.shape;
  const params = fullParamsSchema(operation.params);
  const stated =
    operation.effect === 'read'
      ? { ...params, properties: { maxBytes: maxBytesSchema, part: partSchema, ...params.properties } }
      : params;
  // A created record has no values to clear.
  const clears = operation.idempotent ? listClearablePaths(params) : [];
  const inputSchema = inputSchemaOf(operation, clears, isList);
  const tool: Tool = {
    name,
    title: toolTitleOf(operation.name),
    description: toolDescriptionOf(operation),
    inputSchema: asInputSchema(inputSchema),
    annotations: toolAnnotationsOf(operation),
  };
  let outputSchema: ObjectSchema | undefined;
  return {
    kind: 'operation',
    name,
    toolset: operation.name.slice(0, operation.name.indexOf('.')),
    operation,
    isList,
    takesProject,
    fullParams: stated,
    clearablePaths: clears,
    tool,
    withoutProject: takesProject
      ? { ...tool, inputSchema: asInputSchema(removeProjectParam(inputSchema)) }
      : tool,
    outputSchema: () => (outputSchema ??= resultSchema(operation.result)),
  };
}

/** All operation tools, in the order of the registry and of the tool list. */
export const operationTools: readonly OperationTool[] = [...operations.values()]
  .filter(({ surfaces }) => surfaces.includes('tool'))
  .map(createOperationTool);

const operationToolByName = new Map(
  operationTools.flatMap((tool) => [
    [tool.name, tool] as const,
    // Find the tool by the operation's name in the contract, too.
    [tool.operation.name, tool] as const,
  ]),
);

/** Finds a tool by the tool's or the operation's name. */
export const operationTool = (name: string): OperationTool | undefined => operationToolByName.get(name);

/** Returns true if the text has the form of a project's id or key. */
export const isProjectRef = (text: string): boolean =>
  registry.projects.get.params.shape.projectId.safeParse(text).success;
