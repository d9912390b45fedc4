/** The patch of a file, with comments on its lines. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { type ChangedFile } from '@muster/contract';
import { Icon } from '../components/icons.tsx';
import { importWithRetry } from '../components/lazily.ts';
import { LoadError, Loading } from '../components/states.tsx';
import { useClient } from '../data/context.ts';
import { threadsQuery } from '../data/queries.ts';
import { diffTexts } from '../messages/diff.ts';
import { storyTexts } from '../messages/story.ts';
import { CommentForm, ThreadView } from '../story/threads.tsx';
import { type CommentedStory } from './changes-section.tsx';
import { type CodePart } from './code-parts.ts';
import { type ChangesTarget, patchQuery } from './diff-queries.ts';
import { parsePatch, type PatchLine } from './patch-lines.ts';

interface PatchViewProps {
  readonly file: ChangedFile;
  readonly headSha: string;
  readonly target: ChangesTarget;
  readonly story: CommentedStory | undefined;
}

interface ColoredPatch {
  readonly lines: readonly PatchLine[];
  readonly parts: readonly (readonly CodePart[] | undefined)[];
}

/** Parses a patch, and colors its lines once the highlighter is loaded. */
function useColoredPatch(path: string, text: string): ColoredPatch {
  const lines = useMemo(() => (text === '' ? [] : parsePatch(text)), [text]);
  const [colored, setColored] = useState<ColoredPatch>({ lines: [], parts: [] });
  useEffect(() => {
    let isCurrent = true;
    void importWithRetry(() => import('./code-parts.ts')).then(
      ({ colorPatch }) => {
        if (isCurrent) setColored({ lines, parts: colorPatch(path, lines) });
      },
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [path, lines]);
  return colored.lines === lines ? colored : { lines, parts: [] };
}

const Code = ({
  text,
  parts,
}: {
  readonly text: string;
  readonly parts: readonly CodePart[] | undefined;
}) => (
  <code>
    {parts === undefined
      ? text
      : parts.map(({ tokenClass, text: part }, index) =>
          tokenClass === null ? (
            part
          ) : (
            <span key={index} className={tokenClass}>
              {part}
            </span>
          ),
        )}
  </code>
);

export default function PatchView({ file, headSha, target, story }: PatchViewProps) {
  const patch = useQuery(patchQuery(useClient(), target, headSha, file.path));
  const text = patch.data?.text ?? '';
  const { lines, parts } = useColoredPatch(file.path, text);
  if (patch.isError) return <LoadError error={patch.error} onRetry={() => void patch.refetch()} />;
  if (patch.isPending) return <Loading label={diffTexts.loading} rows={3} />;
  return (
    <div className="diff-patch">
      {text === '' ? (
        <p className="muted">{file.binary ? diffTexts.binary : diffTexts.noLines}</p>
      ) : (
        <div className="diff-lines" role="region" aria-label={diffTexts.patchOf(file.path)} tabIndex={0}>
          <ol>
            {lines.map((line, index) => (
              <Line key={index} {...{ line, headSha, story }} parts={parts[index]} path={file.path} />
            ))}
          </ol>
        </div>
      )}
      {file.truncated && <p className="muted">{diffTexts.patchCut}</p>}
    </div>
  );
}

interface LineProps {
  readonly line: PatchLine;
  readonly parts: readonly CodePart[] | undefined;
  readonly path: string;
  readonly headSha: string;
  readonly story: CommentedStory | undefined;
}

const signs = { hunk: '', context: ' ', added: '+', deleted: '−', note: '' } as const;

function Line({ line, parts, path, headSha, story }: LineProps) {
  const { kind, text, oldLine, newLine } = line;
  const number = newLine ?? oldLine;
  return (
    <li className="diff-line" data-kind={kind}>
      {number !== null && story !== undefined ? (
        <CommentableLine
          {...{ path, headSha, story, text, parts }}
          line={number}
          side={newLine === null ? 'old' : 'new'}
        >
          {signs[kind]}
        </CommentableLine>
      ) : (
        <div className="line">
          <span className="line-number tabular">{number}</span>
          <span aria-hidden className="diff-sign">
            {signs[kind]}
          </span>
          <Code {...{ text, parts }} />
        </div>
      )}
    </li>
  );
}

interface CommentableLineProps {
  readonly path: string;
  readonly line: number;
  readonly side: 'old' | 'new';
  readonly headSha: string;
  readonly story: CommentedStory;
  readonly text: string;
  readonly parts: readonly CodePart[] | undefined;
  readonly children: string;
}

/** A line of code with its threads, or a form for the first comment on it. */
function CommentableLine({ text, parts, children: sign, ...place }: CommentableLineProps) {
  const { path, line, side, headSha, story } = place;
  const { storyId, storyKey } = story;
  const client = useClient();
  const queries = useQueryClient();
  const threads = useQuery(threadsQuery(client, storyKey));
  const [isOpen, setOpen] = useState(false);
  const again = (): Promise<void> => queries.invalidateQueries({ queryKey: ['story', storyKey, 'threads'] });
  const here = (threads.data?.items ?? []).filter(
    ({ codeAnchor }) =>
      codeAnchor?.path === path &&
      codeAnchor.line === line &&
      codeAnchor.side === side &&
      codeAnchor.headSha === headSha,
  );
  const label =
    here.length > 0 ? diffTexts.threadsOn(line, here.length) : diffTexts.commentOn(path, line, side);
  return (
    <>
      <div className="line" data-said={here.length > 0 || undefined}>
        <button
          type="button"
          className="line-number tabular"
          aria-expanded={isOpen}
          aria-label={label}
          onClick={() => setOpen(!isOpen)}
        >
          {here.length > 0 ? <Icon name="thread" size={12} /> : line}
        </button>
        <span aria-hidden className="diff-sign">
          {sign}
        </span>
        <Code {...{ text, parts }} />
      </div>
      {isOpen && (
        <div className="line-talk">
          {here.length > 0 ? (
            <ul className="talks">
              {here.map((thread) => (
                <ThreadView key={thread.id} {...{ thread, storyKey }} refetchThreads={again} />
              ))}
            </ul>
          ) : (
            <CommentForm
              draftKey={`code.${storyId}.${headSha}.${side}.${line}.${path}`}
              label={label}
              placeholder={storyTexts.commentHint}
              submitLabel={storyTexts.comment}
              storyKey={storyKey}
              onSend={async (body) => {
                await client.comments.create({
                  ...{ storyId: storyKey, body, codeAnchor: { path, line, side, headSha } },
                });
                await again();
              }}
            />
          )}
        </div>
      )}
    </>
  );
}
