/**
 * Reads the restrictions that a connection sets in its URL or in X-MCP-* headers. They only remove tools,
 * from the list and from calls alike. Unknown parameters are rejected: ignoring a typo once allowed writes on
 * a connection that was meant to be read-only.
 */
import { type IncomingHttpHeaders } from 'node:http';
import { badRequest } from '@muster/contract';
import { findSimilarNames } from '@muster/http';
import { LRUCache } from 'lru-cache';
import { type ConnectionLimits } from '../calls/calls.ts';
import { modes, type ToolListMode } from '../tools/modes.ts';
import { isProjectRef, operationTool } from '../tools/tools.ts';
import { type AnyTool, allTools, findTool, isCoreTool, toolsets } from '../tools/toolbox.ts';

/** The forms of answers: `lean` for models, and `full`, the API's own form, for programs. */
const answerViews = ['lean', 'full'] as const;

/** The tools that a connection may list and call. The API's authorization check applies in addition. */
export interface ConnectionView extends ConnectionLimits {
  /**
   * A cache key, equal for views that list the same tools. The key does not contain the project, because the
   * tool list is the same for every project.
   */
  readonly cacheKey: string;
  readonly mode: ToolListMode;
  /** True if tools for work and operations outside the list can be called by their own names. */
  readonly allowsUnlistedCalls: boolean;
  readonly isReadonly: boolean;
  readonly showsOutputSchemas: boolean;
  /** True if answers have the lean form. With output schemas they have the API's form, which the schemas describe. */
  readonly isLean: boolean;
  /**
   * True if the tool list names the HTML views that render results, even to a client that does not declare
   * support for views.
   */
  readonly showsHtmlViews: boolean;
  allows(tool: AnyTool): boolean;
  /** True if the tool is in the list. */
  listsTool(tool: AnyTool): boolean;
  /** True if the tool can be called by its own name. */
  canCallTool(tool: AnyTool): boolean;
}

type RestrictionValues = Readonly<Record<string, string>>;

const switchValues = { '1': true, true: true, '0': false, false: false } as const;

const isOneOf = <Value extends string>(values: readonly Value[], text: string): text is Value =>
  values.some((value) => value === text);

/** Joins names for a message. The list is complete, because a client needs it to correct itself. */
const joinNames = (names: readonly string[]): string => names.join(', ');

class RestrictionReader {
  readonly #given: RestrictionValues;
  constructor(given: RestrictionValues) {
    this.#given = given;
  }

  /** Throws the error for an invalid parameter. The message names the valid values. */
  static refuse(path: string, message: string): never {
    throw badRequest('The restriction in this URL or header is invalid.', [{ path, message }]);
  }

  names(parameter: string, isKnown: (name: string) => boolean, valid: readonly string[]): Set<string> | null {
    const text = this.#given[parameter];
    if (text === undefined) return null;
    const names = text.split(',').map((name) => name.trim());
    const unknown = names.find((name) => !isKnown(name));
    if (unknown !== undefined)
      RestrictionReader.refuse(parameter, `"${unknown.slice(0, 80)}" is not one of: ${joinNames(valid)}`);
    return new Set(names);
  }

  isOn(parameter: string): boolean {
    const text = this.#given[parameter] ?? '0';
    if (Object.hasOwn(switchValues, text)) return switchValues[text as keyof typeof switchValues];
    return RestrictionReader.refuse(parameter, `must be one of: ${joinNames(Object.keys(switchValues))}`);
  }

  oneOf<Value extends string>(parameter: string, values: readonly Value[]): Value | undefined {
    const text = this.#given[parameter];
    if (text === undefined) return undefined;
    return isOneOf(values, text)
      ? text
      : RestrictionReader.refuse(parameter, `must be one of: ${joinNames(values)}`);
  }

  project(): string | null {
    const text = this.#given['project'];
    if (text === undefined) return null;
    return isProjectRef(text)
      ? text
      : RestrictionReader.refuse('project', 'must be a project id or a key such as WEB');
  }
}

/** Sorts the names, so that their order in the request does not matter. */
const sortedToolNames = (tools: ReadonlySet<AnyTool> | null): string[] | null =>
  tools === null ? null : [...tools].map(({ name }) => name).sort();

/** Creates the view of a connection from its parameters. */
export function createView(restrictions: RestrictionValues): ConnectionView {
  const reader = new RestrictionReader(restrictions);
  const toolNames = allTools.map(({ name }) => name);
  const isTool = (name: string): boolean => findTool(name) !== undefined;
  const resolved = (names: Set<string> | null): ReadonlySet<AnyTool> | null =>
    names === null ? null : new Set([...names].map(findTool).filter((tool) => tool !== undefined));

  const sets = reader.names('toolsets', (name) => toolsets.includes(name), toolsets);
  const chosen = resolved(reader.names('tools', isTool, toolNames));
  const excluded = resolved(reader.names('exclude', isTool, toolNames)) ?? new Set<AnyTool>();
  const isReadonly = reader.isOn('readonly');
  const named = reader.oneOf('mode', modes);
  const showsOutput = reader.isOn('outputSchema');
  // By default a model gets the short core list. A client that chose tools or output schemas gets all tools
  // that its choice includes.
  const mode = named ?? (sets === null && chosen === null && !showsOutput ? 'core' : 'full');
  const isOpen = named === undefined;
  const project = reader.project();
  const showsApps = reader.isOn('apps');
  const isLean = reader.oneOf('view', answerViews) !== 'full' && !showsOutput;

  const isForbidden = (tool: AnyTool | undefined): boolean =>
    tool !== undefined &&
    (excluded.has(tool) ||
      (isReadonly && tool.tool.annotations?.readOnlyHint !== true) ||
      // A macro is forbidden if any of its steps is.
      (tool.kind === 'macro' && tool.operations.some(({ name }) => isForbidden(operationTool(name)))));
  const isChosen = (tool: AnyTool): boolean =>
    (sets === null && chosen === null) ||
    // Meta tools reach only the chosen tools.
    tool.kind === 'meta' ||
    sets?.has(tool.toolset) === true ||
    chosen?.has(tool) === true;
  const allows = (tool: AnyTool): boolean => isChosen(tool) && !isForbidden(tool);
  const lists = (tool: AnyTool): boolean => {
    if (!allows(tool)) return false;
    if (tool.kind === 'macro') return tool.listedIn.includes(mode);
    if (tool.kind === 'meta') return mode !== 'full';
    return mode === 'full' || (mode === 'core' && isCoreTool(tool));
  };

  return {
    cacheKey: JSON.stringify([
      ...[mode, isReadonly, showsOutput, showsApps, project !== null],
      ...[sets === null ? null : [...sets].sort(), sortedToolNames(chosen), sortedToolNames(excluded)],
    ]),
    mode,
    allowsUnlistedCalls: isOpen,
    project,
    isReadonly,
    showsOutputSchemas: showsOutput,
    showsHtmlViews: showsApps,
    isLean,
    allows,
    listsTool: lists,
    canCallTool: (tool) => lists(tool) || (isOpen && tool.kind !== 'meta' && allows(tool)),
  };
}

/**
 * The names of the query parameters that restrict a connection. A client can send each parameter as a header
 * instead.
 */
const restrictionParameters = [
  'toolsets',
  'tools',
  'exclude',
  'readonly',
  'project',
  'mode',
  'outputSchema',
  'apps',
  'view',
] as const;
const headerPrefix = 'x-mcp-';
const headerNames = restrictionParameters.map((name) => name.toLowerCase());
/** The names of the headers that restrict a connection. */
export const narrowingHeaders = headerNames.map((name) => `${headerPrefix}${name}`);
const parameterByHeader = new Map(
  restrictionParameters.map((name) => [`${headerPrefix}${name.toLowerCase()}`, name]),
);

/** Collects the parameters of URL and headers. The URL takes precedence. */
function readRestrictions(query: string, headers: IncomingHttpHeaders): RestrictionValues {
  const found: Record<string, string> = {};
  for (const [header, value] of Object.entries(headers)) {
    if (!header.startsWith(headerPrefix)) continue;
    const name = parameterByHeader.get(header);
    if (name !== undefined) found[name] = String(value);
    // Ignore a proxy's own headers, but reject a likely misspelling of one of ours.
    else if (findSimilarNames(header.slice(headerPrefix.length), headerNames).length > 0)
      RestrictionReader.refuse(
        header,
        `is not a header of this server; valid headers: ${joinNames([...parameterByHeader.keys()])}`,
      );
  }
  const inUrl = new Set<string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!isOneOf(restrictionParameters, name))
      // The message repeats neither name nor value, because either may be a secret.
      RestrictionReader.refuse(
        'query',
        `the URL has an unknown parameter; valid parameters: ${joinNames(restrictionParameters)}`,
      );
    if (inUrl.has(name)) RestrictionReader.refuse(name, 'is given twice');
    inUrl.add(name);
    found[name] = value;
  }
  // Return the parameters in a fixed order, so that equal views share a cache entry.
  return Object.fromEntries(
    restrictionParameters.flatMap((name) => (found[name] === undefined ? [] : [[name, found[name]]])),
  );
}

/**
 * Path suffixes that restrict a connection in the same way as query parameters. They exist because some
 * clients do not show responses from a URL with a query.
 */
export const queryByPathSuffix: Readonly<Record<string, string>> = {
  '/core': 'mode=core',
  '/readonly': 'readonly=1',
  '/core/readonly': 'mode=core&readonly=1',
};

/** Limits of the view cache: its views, and the characters of their keys, each as long as a URL may be. */
const viewCacheLimits = { max: 500, maxSize: 1_000_000 };

/** Creates a function that reads a request's restrictions and caches the resulting views. */
export function createViewReader(): (query: string, headers: IncomingHttpHeaders) => ConnectionView {
  const views = new LRUCache<string, ConnectionView>({
    ...viewCacheLimits,
    sizeCalculation: (_, key) => key.length,
  });
  const usual = createView({});
  return (query, headers) => {
    const asked = readRestrictions(query, headers);
    if (Object.keys(asked).length === 0) return usual;
    const key = JSON.stringify(asked);
    const view = views.get(key) ?? createView(asked);
    views.set(key, view);
    return view;
  };
}
