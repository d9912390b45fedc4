/** Prompts of a project, or of the organization. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Prompt } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { texts } from '../messages/settings.ts';
import { ConfirmButton } from '../components/ask.tsx';
import { submitFocusedForm, TextEditor } from '../editor/text-editor.tsx';
import {
  joinFacts,
  Form,
  ListItem,
  FormField,
  QueryList,
  OpenFormButton,
  Section,
  useSettingsWrite,
} from './components.tsx';
import { promptsQuery } from './queries.ts';

interface PromptScope {
  readonly projectId: string | undefined;
  /** The key of the project; empty for prompts of the organization. */
  readonly projectKey: string;
  readonly mayWrite: boolean;
}

interface PromptFormProps extends Omit<PromptScope, 'mayWrite'> {
  readonly prompt: Prompt | null;
  readonly onClose: () => void;
}

/** In characters; the API allows as many bytes. */
const maxPromptLength = 64 * 1024;

/** The editor of a new or an existing prompt. */
function PromptForm({ prompt, projectId, projectKey, onClose }: PromptFormProps) {
  const { prompts } = useClient();
  const [slug, setSlug] = useState(prompt?.slug ?? '');
  const [title, setTitle] = useState(prompt?.title ?? '');
  const [body, setBody] = useState(prompt?.body ?? '');
  const { isBusy, run } = useSettingsWrite();
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
      texts.saved,
    );
    if (isDone) onClose();
    return isDone;
  };
  return (
    <Form
      submitLabel={texts.save}
      isBusy={isBusy}
      hasUnsavedText={body !== (prompt?.body ?? '')}
      onSubmit={save}
      onCancel={onClose}
    >
      <div className="form-row">
        <FormField name={texts.prompts.slug} hint={texts.prompts.slugHint}>
          <input
            className="field mono"
            required
            pattern="[a-z0-9\-]{1,64}"
            readOnly={prompt !== null}
            value={slug}
            onChange={({ target }) => setSlug(target.value)}
          />
        </FormField>
        <FormField name={texts.prompts.title}>
          <input
            className="field"
            required
            maxLength={200}
            value={title}
            onChange={({ target }) => setTitle(target.value)}
          />
        </FormField>
      </div>
      <div className="label">
        <span>{texts.prompts.body}</span>
        <TextEditor
          kind="text"
          label={texts.prompts.body}
          text={body}
          maxLength={maxPromptLength}
          projectKey={projectKey}
          rows={10}
          takesFocus={false}
          onTextChange={setBody}
          onSubmit={submitFocusedForm}
        />
        <span className="hint">{texts.prompts.bodyHint}</span>
      </div>
    </Form>
  );
}

function PromptRow({ prompt, projectId, projectKey, mayWrite }: PromptScope & { readonly prompt: Prompt }) {
  const { prompts } = useClient();
  const { run } = useSettingsWrite();
  const [isOpen, setOpen] = useState(false);
  const { slug, title, version, scope } = prompt;
  const isInherited = scope === 'org' && projectId !== undefined;
  const names = prompt.arguments.map(({ name }) => name).join(', ');
  if (isOpen)
    return (
      <li>
        <PromptForm {...{ prompt, projectId, projectKey }} onClose={() => setOpen(false)} />
      </li>
    );
  return (
    <ListItem
      title={
        <>
          {title} <code className="muted">{slug}</code>
        </>
      }
      details={joinFacts(
        isInherited && texts.prompts.inherited,
        names !== '' && texts.prompts.arguments(names),
        texts.prompts.version(version),
      )}
    >
      {mayWrite && (
        <>
          <button type="button" className="button" data-kind="quiet" onClick={() => setOpen(true)}>
            {texts.edit}
            <span className="sr-only"> {slug}</span>
          </button>
          {!isInherited && (
            <ConfirmButton
              actionLabel={texts.prompts.delete}
              subject={slug}
              title={texts.prompts.deleteTitle(slug)}
              explanation={texts.prompts.deleteWhy}
              onConfirm={() =>
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
    </ListItem>
  );
}

export function Prompts({ projectId, projectKey, mayWrite }: PromptScope) {
  const [isMaking, setMaking] = useState(false);
  const prompts = useQuery(promptsQuery(useClient(), projectId));
  return (
    <Section
      id="prompts"
      title={texts.sections.prompts}
      intro={projectId === undefined ? texts.prompts.introOrg : texts.prompts.introProject}
      headerAction={
        mayWrite && !isMaking && <OpenFormButton name={texts.prompts.make} onOpen={() => setMaking(true)} />
      }
    >
      {isMaking && (
        <PromptForm prompt={null} {...{ projectId, projectKey }} onClose={() => setMaking(false)} />
      )}
      <QueryList query={prompts} emptyTitle={texts.prompts.empty} emptyWhy={texts.prompts.emptyWhy}>
        {(prompt) => <PromptRow key={prompt.id} {...{ prompt, projectId, projectKey, mayWrite }} />}
      </QueryList>
    </Section>
  );
}
