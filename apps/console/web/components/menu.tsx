/**
 * A menu of actions or choices. A button opens it, arrow keys move in it, and Escape or an action elsewhere
 * closes it. It stays open while its anchor scrolls, because changes by others also move cards.
 */
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { Icon } from './icons.tsx';

export interface MenuItem {
  readonly id: string;
  readonly name: string;
  readonly icon?: ReactNode;
  /** The state of a choice; undefined for an action. */
  readonly isChosen?: boolean;
  /** True if a line separates the entry from the one above. */
  readonly isSeparated?: boolean;
  readonly run: () => void;
}

interface MenuProps {
  readonly label: string;
  /** The entries of the menu. If this is a function, it is called when the menu opens. */
  readonly items: readonly MenuItem[] | (() => readonly MenuItem[]);
  readonly children: ReactNode;
  readonly className?: string;
  readonly kind?: 'quiet';
  /** Keeps the menu open after a choice, so that several can be made. */
  readonly staysOpenAfterChoice?: boolean;
  readonly tabIndex?: number;
}

const viewportMarginPx = 8;

interface MenuListProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  /** Returns the element at which the menu opens. */
  readonly anchor: () => HTMLElement | null;
  /** The point at which a context menu opens. */
  readonly pointer?: { readonly x: number; readonly y: number } | undefined;
  readonly staysOpenAfterChoice?: boolean;
  /**
   * True if exactly one choice applies. The focus then starts on the current choice, so that Enter changes
   * nothing.
   */
  readonly isSingleChoice?: boolean;
  /** Called on close. `isBack` is true if the focus should return to the anchor. */
  readonly onClose: (isBack: boolean) => void;
}

function focusInitialEntry(menu: HTMLElement, isSingleChoice: boolean): void {
  const chosen = isSingleChoice ? menu.querySelector<HTMLElement>('[aria-checked="true"]') : null;
  // Without a current choice, focus the menu itself, so that Enter chooses nothing.
  (chosen ?? (isSingleChoice ? menu : menu.querySelector<HTMLElement>('button')))?.focus();
}

/** Places the menu below its anchor, or above it if there is no room. */
export function positionMenu(menu: HTMLElement, { top, bottom, left }: DOMRect): void {
  const { offsetWidth: width, offsetHeight: height } = menu;
  const below = bottom + 4;
  const y =
    below + height > innerHeight - viewportMarginPx ? Math.max(viewportMarginPx, top - height - 4) : below;
  menu.style.top = `${y}px`;
  menu.style.left = `${Math.max(viewportMarginPx, Math.min(left, innerWidth - width - viewportMarginPx))}px`;
}

/** Moves the focus between entries by arrow keys and letters. Returns false for other keys. */
function moveMenuFocus(menu: HTMLElement, key: string): boolean {
  const entries = [...menu.querySelectorAll<HTMLElement>('button')];
  const at = entries.findIndex((entry) => entry === document.activeElement);
  const steps: Record<string, number> = {
    ArrowDown: (at + 1) % entries.length,
    ArrowUp: (Math.max(at, 0) - 1 + entries.length) % entries.length,
    Home: 0,
    End: entries.length - 1,
  };
  const next = steps[key];
  if (next !== undefined) entries[next]?.focus();
  else if (key.length === 1 && key !== ' ') {
    const letter = key.toLocaleLowerCase();
    const named = (entry: HTMLElement): boolean =>
      entry.textContent.trim().toLocaleLowerCase().startsWith(letter);
    (entries.slice(at + 1).find(named) ?? entries.find(named))?.focus();
  } else return false;
  return true;
}

interface MenuEntryProps {
  readonly item: MenuListProps['items'][number];
  readonly role: 'menuitem' | 'menuitemradio' | 'menuitemcheckbox';
  readonly onChoose: () => void;
}

const MenuEntry = ({ item: { icon, name, isChosen, isSeparated }, role, onChoose }: MenuEntryProps) => (
  <button
    type="button"
    className="menu-item"
    data-separated={isSeparated || undefined}
    role={role}
    aria-checked={isChosen}
    tabIndex={-1}
    onClick={onChoose}
  >
    {icon}
    <span className="grow cut">{name}</span>
    {isChosen !== undefined && (
      <span className="tick">
        <Icon name="tick" size={14} />
      </span>
    )}
  </button>
);

/**
 * Closes the menu on an action elsewhere, and lets it follow its anchor when that scrolls. Returns the function that
 * stops it.
 */
function observeMenu(
  menu: HTMLElement,
  read: () => Pick<MenuListProps, 'anchor' | 'pointer' | 'onClose'>,
): () => void {
  const leave = ({ target }: Event): void => {
    const { anchor, pointer, onClose } = read();
    const at = pointer === undefined ? anchor() : null;
    if (target instanceof Node && (menu.contains(target) || at?.contains(target) === true)) return;
    onClose(false);
  };
  const follow = ({ target }: Event): void => {
    const { anchor, pointer, onClose } = read();
    const at = anchor();
    if (at === null || !(target as Node).contains(at)) return;
    const rect = at.getBoundingClientRect();
    const { top, bottom } = (target instanceof Element ? target : document.body).getBoundingClientRect();
    if (pointer === undefined && rect.bottom > top && rect.top < bottom) positionMenu(menu, rect);
    else onClose(false);
  };
  document.addEventListener('pointerdown', leave);
  document.addEventListener('scroll', follow, true);
  return () => {
    document.removeEventListener('pointerdown', leave);
    document.removeEventListener('scroll', follow, true);
  };
}

/** The list of a menu, which is open while it is mounted. */
export function MenuList({
  label,
  items,
  anchor,
  pointer,
  staysOpenAfterChoice,
  isSingleChoice = false,
  onClose,
}: MenuListProps) {
  const list = useRef<HTMLDivElement>(null);
  const latest = useRef({ anchor, onClose, pointer });
  latest.current = { anchor, onClose, pointer };

  useLayoutEffect(() => {
    const menu = list.current;
    if (menu === null) return undefined;
    // The popover is above everything else, including a dialog that contains it.
    menu.showPopover();
    focusInitialEntry(menu, isSingleChoice);
    return observeMenu(menu, () => latest.current);
  }, [isSingleChoice]);
  // The focused entry may have disappeared, such as the loading entry.
  useLayoutEffect(() => {
    if (list.current !== null && document.activeElement === document.body)
      focusInitialEntry(list.current, isSingleChoice);
  });
  useLayoutEffect(() => {
    const menu = list.current;
    const { pointer: point, anchor: element } = latest.current;
    const from =
      point === undefined ? element()?.getBoundingClientRect() : new DOMRect(point.x, point.y, 0, 0);
    if (menu !== null && from !== undefined) positionMenu(menu, from);
  }, [items.length]);

  const press = (event: KeyboardEvent<HTMLElement>): void => {
    const { key, currentTarget: menu } = event;
    if (key === 'Escape') onClose(true);
    else if (key === 'Tab') onClose(isSingleChoice);
    else if (!moveMenuFocus(menu, key)) return;
    event.stopPropagation();
    if (key !== 'Tab') event.preventDefault();
  };

  const role = isSingleChoice ? 'menuitemradio' : 'menuitemcheckbox';
  return (
    // Key presses bubble up from the focused entry to the list.
    <div
      ref={list}
      popover="manual"
      className="menu"
      role="menu"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={press}
    >
      {items.map((item) => (
        <MenuEntry
          key={item.id}
          item={item}
          role={item.isChosen === undefined ? 'menuitem' : role}
          onChoose={() => {
            if (staysOpenAfterChoice !== true) onClose(true);
            item.run();
          }}
        />
      ))}
    </div>
  );
}

export function Menu({
  label,
  items,
  children,
  className,
  kind,
  staysOpenAfterChoice = false,
  tabIndex,
}: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <span className="menu-holder">
      <button
        ref={button}
        type="button"
        className={className ?? 'button'}
        data-kind={kind}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={label}
        tabIndex={tabIndex}
        onClick={() => setOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen && (
        <MenuList
          label={label}
          items={typeof items === 'function' ? items() : items}
          anchor={() => button.current}
          staysOpenAfterChoice={staysOpenAfterChoice}
          onClose={(isBack) => {
            setOpen(false);
            if (isBack) button.current?.focus();
          }}
        />
      )}
    </span>
  );
}
