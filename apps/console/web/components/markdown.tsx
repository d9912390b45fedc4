/**
 * Renders Markdown by other authors as HTML. marked creates the HTML, and DOMPurify removes active content.
 * Trusted Types prevent HTML that skipped DOMPurify from being inserted.
 */
import DOMPurify from 'dompurify';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type MouseEvent, type RefObject, useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { useClient, useIdentity } from '../data/context.ts';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';
import { projectsQuery } from '../data/queries.ts';
import { fileAddressOf, isImage, parseFileAddress } from '../files/file-address.ts';
import { loadFile } from '../files/file-queries.ts';
import { importWithRetry } from './lazily.ts';
import { indexActorIds, renderHtml, type LinkTargets } from './markdown-text.ts';

/**
 * The random prefix of the values of task boxes. A checkbox that an author wrote as HTML has no such value,
 * so it is not taken for a task box.
 */
const taskPrefix = `${crypto.getRandomValues(new Uint32Array(4)).join('.')}.`;
const sanitizer = DOMPurify(globalThis.window);
/** Authors cannot set this attribute, because the sanitizer removes data attributes before its hook runs. */
const attachmentAttribute = 'data-attachment';

/** The languages of code blocks. Their class names are removed, because authors could style the page with classes. */
const languages = new WeakMap<Element, string>();
const languageAttribute = 'data-language';

sanitizer.addHook('beforeSanitizeAttributes', (element) => {
  // The hook also runs for nodes without attributes.
  if (!(element instanceof Element)) return;
  const language = /^language-([\w+#.-]{1,30})$/.exec(element.getAttribute('class') ?? '')?.[1];
  if (language !== undefined && element.matches('pre > code')) languages.set(element, language.toLowerCase());
});

sanitizer.addHook('afterSanitizeAttributes', (element) => {
  const language = languages.get(element);
  if (language !== undefined) element.setAttribute(languageAttribute, language);
  if (element.tagName === 'A') {
    const href = element.getAttribute('href') ?? '';
    // Replace links without a target by their text: anchors within the text, whose ids are removed, and paths
    // outside the console.
    if (!/^(?:[a-z][a-z\d+.-]*:|\/console\/)/i.test(href)) element.replaceWith(...element.childNodes);
    else if (!href.startsWith('/console/')) {
      element.setAttribute('rel', 'noopener noreferrer nofollow');
      element.setAttribute('target', '_blank');
    }
  }
  if (element instanceof HTMLInputElement) {
    if (!element.value.startsWith(taskPrefix)) element.remove();
    const [label = ''] = (element.closest('li')?.textContent ?? '').trim().split('\n');
    element.setAttribute('aria-label', label.slice(0, 200));
    element.setAttribute('disabled', '');
  }
  if (element.tagName === 'IMG') {
    const source = element.getAttribute('src') ?? '';
    const attachmentId = parseFileAddress(source);
    if (attachmentId !== undefined) {
      // The address of the image itself is fetched later.
      element.removeAttribute('src');
      element.setAttribute(attachmentAttribute, attachmentId);
      return;
    }
    // Loading an image would reveal the reader to another server, so show a link instead.
    const link = document.createElement('a');
    link.textContent = element.getAttribute('alt') ?? source;
    if (/^https?:/.test(source)) link.setAttribute('href', source);
    link.setAttribute('target', '_blank');
    link.setAttribute('rel', 'noopener noreferrer nofollow');
    element.replaceWith(link);
  }
});

const sanitizerSettings = {
  USE_PROFILES: { html: true },
  FORBID_TAGS: ['style', 'form', 'button', 'textarea', 'select', 'iframe', 'video', 'audio', 'source'],
  FORBID_ATTR: ['style', 'class', 'id', 'name', 'srcset'],
  ALLOW_DATA_ATTR: false,
  RETURN_TRUSTED_TYPE: true as const,
};

interface MarkdownProps {
  readonly text: string;
  /** The level of the heading above the text. Headings in the text start at the next level. */
  readonly parentHeadingLevel?: number;
  /**
   * Saves a ticked or cleared task box. Resolves to false if the save failed. Without this callback, the
   * boxes are read-only.
   */
  readonly onTaskChange?: ((index: number, isChecked: boolean) => Promise<boolean>) | undefined;
}

const noProjectKeys: LinkTargets['projectKeys'] = new Set();

function useLinkTargets(text: string): LinkTargets {
  const client = useClient();
  const projects = useQuery(projectsQuery(client)).data;
  const members = useQuery(membersQuery(client)).data;
  const agents = useQuery({ ...agentsQuery(client), enabled: text.includes('@') }).data;
  const { id: viewerId } = useIdentity().member;
  return useMemo(
    () => ({
      projectKeys: projects === undefined ? noProjectKeys : new Set(projects.map(({ key }) => key)),
      actorIds: indexActorIds(members ?? [], agents ?? [], viewerId),
    }),
    [projects, members, agents, viewerId],
  );
}

const taskBoxesIn = (container: HTMLElement | null): Iterable<HTMLInputElement> =>
  container?.querySelectorAll<HTMLInputElement>('input[type="checkbox"]') ?? [];

/** Loads the attachments that the text shows as images. Each becomes a link to the page of the attachment. */
function useAttachedImages(prose: RefObject<HTMLDivElement | null>, html: unknown): void {
  const client = useClient();
  const queries = useQueryClient();
  useEffect(() => {
    const images = prose.current?.querySelectorAll<HTMLImageElement>(`img[${attachmentAttribute}]`) ?? [];
    for (const image of images) {
      const attachmentId = image.getAttribute(attachmentAttribute) ?? '';
      const link = document.createElement('a');
      link.href = fileAddressOf(attachmentId);
      image.replaceWith(link);
      // The link shows text until the image has loaded, and if it cannot be loaded.
      link.textContent = image.alt === '' ? attachmentId : image.alt;
      void loadFile(queries, client, attachmentId).then(
        (file) => {
          if (!isImage(file) || file.downloadUrl === null) return;
          image.src = file.downloadUrl;
          image.loading = 'lazy';
          link.replaceChildren(image);
        },
        () => undefined,
      );
    }
  }, [prose, html, client, queries]);
}

/** Colors the code blocks that name their language, once the highlighter is loaded. */
function useCodeColors(prose: RefObject<HTMLDivElement | null>, html: unknown): void {
  useEffect(() => {
    const blocks = prose.current?.querySelectorAll<HTMLElement>(`pre > code[${languageAttribute}]`) ?? [];
    if (blocks.length === 0) return;
    void importWithRetry(() => import('./code-colors.ts')).then(
      ({ colorCode }) => {
        for (const block of blocks) colorCode(block, block.getAttribute(languageAttribute) ?? '', sanitizer);
      },
      () => undefined,
    );
  }, [prose, html]);
}

export function Markdown({ text, parentHeadingLevel = 2, onTaskChange }: MarkdownProps) {
  const prose = useRef<HTMLDivElement>(null);
  const { history } = useRouter();
  const linkable = useLinkTargets(text);
  const html = useMemo(
    () => sanitizer.sanitize(renderHtml(text, parentHeadingLevel, linkable, taskPrefix), sanitizerSettings),
    [text, parentHeadingLevel, linkable],
  );
  /** The value of the box that was ticked last: it gets the focus back when the saved text replaces it. */
  const ticked = useRef<string>(undefined);
  const isTickable = onTaskChange !== undefined;
  useLayoutEffect(() => {
    for (const box of taskBoxesIn(prose.current)) {
      box.disabled = !isTickable;
      if (box.value === ticked.current && document.activeElement === document.body) box.focus();
    }
    // The order of a table's columns follows the direction of its text.
    for (const table of prose.current?.querySelectorAll('table') ?? []) table.dir = 'auto';
    // Makes tables and code blocks that are wider than the page focusable, so that they can be scrolled with
    // the keyboard.
    for (const block of prose.current?.querySelectorAll<HTMLElement>('table, pre') ?? [])
      if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
  }, [html, isTickable]);
  useAttachedImages(prose, html);
  useCodeColors(prose, html);
  const click = (event: MouseEvent): void => {
    const { target } = event;
    if (target instanceof HTMLInputElement && onTaskChange !== undefined) {
      ticked.current = target.value;
      void onTaskChange(Number(target.value.slice(taskPrefix.length)), target.checked).then((isSaved) => {
        if (!isSaved) target.checked = !target.checked;
      });
    }
    const href = target instanceof Element ? target.closest('a')?.getAttribute('href') : undefined;
    if (href?.startsWith('/console/') !== true || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.push(href);
  };
  return (
    <div
      ref={prose}
      className="prose"
      data-below={parentHeadingLevel}
      onClick={click}
      dangerouslySetInnerHTML={{ __html: html as unknown as string }}
    />
  );
}
