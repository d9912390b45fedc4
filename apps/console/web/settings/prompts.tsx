/** Prompts of a project, or of the organization. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Prompt } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { s } from '../messages/settings.ts';
import { Ask } from '../components/ask.tsx';
import { facts, Form, Item, Label, Listed, Opener, Section, useWrite } from './components.tsx';
import { promptsQuery } from './queries.ts';

interface Where {
  readonly projectId: string | undefined;
  readonly mayWrite: boolean;
}

/** The editor of a new or an existing prompt. */
function Editor({
  prompt,
  projectId,
  onClose,
}: {
  readonly prompt: Prompt | null;
  readonly projectId: string | undefined;
  readonly onClose: () => void;
}) {
  const { prompts } = useClient();
  const [slug, setSlug] = useState(prompt?.slug ?? '');
  const [title, setTitle] = useState(prompt?.title ?? '');
  const [body, setBody] = useState(prompt?.body ?? '');
  const { isBusy, run } = useWrite();
  const isInherited = prompt !== null && prompt.scope === 'org' && projectId !== undefined;
  const save = async (): Promise<boolean> => {
    const named = new Set(
      Array.from(body.matchAll(/\{\{\s*([A-Za-z][\w-]*)\s*\}\}/g), ([, name = '']) => name),
    );
    const known = prompt?.arguments ?? [];
    const draft = {
      ...{ slug, title, body, tags: prompt?.tags ?? [] },
      arguments: [...named].map(
        (name) => known.find((one) => one.name === name) ?? { name, description: '', required: true },
      ),
      // Overriding a prompt of the organization creates a new prompt.
      ...(prompt !== null && !isInherited && { expectedVersion: prompt.version }),
    };
    const isDone = await run(
      () =>
        projectId === undefined ? prompts.org.upsert(draft) : prompts.project.upsert({ projectId, ...draft }),
      s.saved,
    );
    if (isDone) onClose();
    return isDone;
  };
  return (
    <Form act={s.save} isBusy={isBusy} onSubmit={save} onCancel={onClose}>
      <div className="form-row">
        <Label name={s.prompts.slug} hint={s.prompts.slugHint}>
          <input
            className="field mono"
            required
            pattern="[a-z0-9\-]{1,64}"
            readOnly={prompt !== null}
            value={slug}
            onChange={({ target }) => setSlug(target.value)}
          />
        </Label>
        <Label name={s.prompts.title}>
          <input
            className="field"
            required
            maxLength={200}
            value={title}
            onChange={({ target }) => setTitle(target.value)}
          />
        </Label>
      </div>
      <Label name={s.prompts.body} hint={s.prompts.bodyHint}>
        <textarea
          className="field mono"
          required
          rows={10}
          value={body}
          onChange={({ target }) => setBody(target.value)}
        />
      </Label>
    </Form>
  );
}

function One({ prompt, projectId, mayWrite }: Where & { readonly prompt: Prompt }) {
  const { prompts } = useClient();
  const { run } = useWrite();
  const [isOpen, setOpen] = useState(false);
  const { slug, title, version, scope } = prompt;
  const isInherited = scope === 'org' && projectId !== undefined;
  const names = prompt.arguments.map(({ name }) => name).join(', ');
  if (isOpen)
    return (
      <li>
        <Editor prompt={prompt} projectId={projectId} onClose={() => setOpen(false)} />
      </li>
    );
  return (
    <Item
      title={
        <>
          {title} <code className="muted">{slug}</code>
        </>
      }
      fact={facts(
        isInherited && s.prompts.inherited,
        names !== '' && s.prompts.arguments(names),
        s.prompts.version(version),
      )}
    >
      {mayWrite && (
        <>
          <button type="button" className="button" data-kind="quiet" onClick={() => setOpen(true)}>
            {s.edit}
            <span className="sr-only"> {slug}</span>
          </button>
          {!isInherited && (
            <Ask
              act={s.prompts.delete}
              about={slug}
              title={s.prompts.deleteTitle(slug)}
              why={s.prompts.deleteWhy}
              run={() =>
                run(() =>
                  projectId === undefined
                    ? prompts.org.delete({ slug })
                    : prompts.project.delete({ projectId, slug }),
                )
              }
            />
          )}
        </>
      )}
    </Item>
  );
}

export function Prompts({ projectId, mayWrite }: Where) {
  const [isMaking, setMaking] = useState(false);
  const prompts = useQuery(promptsQuery(useClient(), projectId));
  return (
    <Section
      id="prompts"
      title={s.sections.prompts}
      intro={projectId === undefined ? s.prompts.introOrg : s.prompts.introProject}
      act={mayWrite && !isMaking && <Opener name={s.prompts.make} onOpen={() => setMaking(true)} />}
    >
      {isMaking && <Editor prompt={null} projectId={projectId} onClose={() => setMaking(false)} />}
      <Listed query={prompts} empty={s.prompts.empty} emptyWhy={s.prompts.emptyWhy}>
        {(prompt) => <One key={prompt.id} prompt={prompt} projectId={projectId} mayWrite={mayWrite} />}
      </Listed>
    </Section>
  );
}
