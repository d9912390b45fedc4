/** Suggestions while writing: people and agents after `@`, stories after `#`, and templates after `/` in a new line. */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  type CompletionSource,
  pickedCompletion,
} from '@codemirror/autocomplete';
import { type Extension } from '@codemirror/state';
import { type EditorView } from '@codemirror/view';
import { type Client } from '@muster/client';
import { queryOptions, type QueryClient } from '@tanstack/react-query';
import { errorText, showNotice } from '../components/notices.tsx';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';
import { builtInTemplates, editorTexts } from '../messages/editor.ts';

export interface SuggestionScope {
  readonly client: Client;
  readonly queries: QueryClient;
  /** The project whose stories and prompts are suggested; empty for stories of all projects, and no prompts. */
  readonly projectKey: string;
}

const maxSuggestions = 8;
const cachePeriodMs = 60_000;

/** Prompts of the project. Those with long texts come without them. */
const promptsQuery = (client: Client, projectKey: string) =>
  queryOptions({
    queryKey: ['settings', 'prompts', 'suggested', projectKey],
    queryFn: async () =>
      (await client.prompts.project.list({ projectId: projectKey, effective: true, limit: 200 })).items,
    staleTime: cachePeriodMs,
  });

interface NamedActor {
  readonly name: string;
  /** The text that mentions the actor, without `@`. */
  readonly mention: string;
}

/** Returns true if the text begins one of the actor's names. */
const isNamed = ({ name, mention }: NamedActor, typed: string): boolean =>
  [mention, ...name.split(/\s+/)].some((word) => word.toLocaleLowerCase().startsWith(typed));

async function mentionedActors({ client, queries }: SuggestionScope, typed: string): Promise<NamedActor[]> {
  const [members, agents] = await Promise.all([
    queries.query({ ...membersQuery(client), staleTime: cachePeriodMs }),
    queries.query({ ...agentsQuery(client), staleTime: cachePeriodMs }),
  ]);
  const named = [
    ...members.map(({ name, handle }) => ({ name, mention: handle })),
    ...agents.map(({ name, slug }) => ({ name, mention: slug })),
  ].filter((actor) => isNamed(actor, typed));
  // A name that several have mentions only one of them.
  return [
    ...new Map(named.toReversed().map((actor) => [actor.mention.toLowerCase(), actor])).values(),
  ].reverse();
}

const resultOf = (from: number, options: Completion[]): CompletionResult => ({
  from,
  options: options.slice(0, maxSuggestions),
  filter: false,
});

const actorsSource =
  (scope: SuggestionScope): CompletionSource =>
  async (context) => {
    const typed = context.matchBefore(/(?<![\p{L}\p{N}_@/.-])@[\p{L}\p{N}-]*/u);
    if (typed === null) return null;
    const actors = await mentionedActors(scope, typed.text.slice(1).toLocaleLowerCase());
    return resultOf(
      typed.from,
      actors.map(({ name, mention }) => ({
        ...{ label: `@${mention}`, displayLabel: name, detail: `@${mention}`, apply: `@${mention} ` },
      })),
    );
  };

const minStoryQueryLength = 2;

const storiesSource =
  ({ client, projectKey }: SuggestionScope): CompletionSource =>
  async (context) => {
    const typed = context.matchBefore(/(?<![\p{L}\p{N}_#/&-])#[\p{L}\p{N}][\p{L}\p{N}-]*/u);
    if (typed === null) return null;
    const text = typed.text.slice(1);
    const query = projectKey !== '' && /^\d+$/.test(text) ? `${projectKey}-${text}` : text;
    if (query.length < minStoryQueryLength) return null;
    const { items } = await client.search.find({
      ...{ query, kinds: ['story'], limit: maxSuggestions },
      ...(projectKey !== '' && { projectId: projectKey }),
    });
    return resultOf(
      typed.from,
      items.flatMap(({ key, title }) =>
        key == null ? [] : [{ label: key, displayLabel: title, detail: key, apply: `${key} ` }],
      ),
    );
  };

/** Inserts the text with the caret at its first place to fill in. */
function insertTemplate(
  view: EditorView,
  completion: Completion,
  text: string,
  from: number,
  to: number,
): void {
  const gap = /^(?:1\.|- \[ \]) $/m.exec(text);
  view.dispatch({
    changes: { from, to, insert: text },
    selection: { anchor: from + (gap === null ? text.length : gap.index + gap[0].length) },
    ...{ annotations: pickedCompletion.of(completion), userEvent: 'input.complete', scrollIntoView: true },
  });
}

/** Inserts a prompt. If its text is long, it is fetched first, unless the text changes in the meantime. */
const insertPrompt =
  ({ client, projectKey }: SuggestionScope, slug: string, body: string | null) =>
  (view: EditorView, completion: Completion, from: number, to: number): void => {
    if (body !== null) {
      insertTemplate(view, completion, body, from, to);
      return;
    }
    const { doc } = view.state;
    client.prompts.project.list({ projectId: projectKey, effective: true, slug }).then(
      ({ items }) => {
        const text = items[0]?.body;
        if (text != null && view.state.doc.eq(doc)) insertTemplate(view, completion, text, from, to);
      },
      (error: unknown) => showNotice({ tone: 'bad', title: editorTexts.notInserted, body: errorText(error) }),
    );
  };

const templatesSource =
  (scope: SuggestionScope): CompletionSource =>
  async (context: CompletionContext) => {
    const typed = context.matchBefore(/^\s*\/[\p{L}\p{N}-]*/u);
    if (typed === null || scope.projectKey === '') return null;
    const from = typed.from + typed.text.indexOf('/');
    const prompts = await scope.queries.query(promptsQuery(scope.client, scope.projectKey));
    const name = typed.text.trim().slice(1).toLocaleLowerCase();
    const isWanted = ({ slug, title }: { readonly slug: string; readonly title: string }): boolean =>
      slug.startsWith(name) || isNamed({ name: title, mention: slug }, name);
    return resultOf(from, [
      ...builtInTemplates.filter(isWanted).map(({ slug, title, text }): Completion => ({
        ...{ label: `/${slug}`, displayLabel: title, detail: editorTexts.template },
        apply: (view, completion, start, end) => insertTemplate(view, completion, text, start, end),
      })),
      ...prompts.filter(isWanted).map(({ slug, title, body }): Completion => ({
        ...{ label: `/${slug}`, displayLabel: title, detail: editorTexts.prompt },
        apply: insertPrompt(scope, slug, body),
      })),
    ]);
  };

/** A source that fails, for example offline, suggests nothing. */
const quietly =
  (source: CompletionSource): CompletionSource =>
  async (context) => {
    try {
      return await source(context);
    } catch {
      return null;
    }
  };

export const suggestions = (scope: SuggestionScope): Extension =>
  autocompletion({
    override: [actorsSource, storiesSource, templatesSource].map((source) => quietly(source(scope))),
    icons: false,
    // Enter inserts the option that is shown as chosen, however recently it appeared.
    interactionDelay: 0,
  });
