/** A menu of acts or choices: opened by a button, walked by arrows, closed by Escape and by whatever else is done. */
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Icon } from './icons.tsx';

export interface MenuItem {
  readonly id: string;
  readonly name: string;
  readonly icon?: ReactNode;
  /** For a choice; an act has none. */
  readonly isChosen?: boolean;
  readonly run: () => void;
}

interface MenuProps {
  readonly label: string;
  /** A function is asked when the menu opens. */
  readonly items: readonly MenuItem[] | (() => readonly MenuItem[]);
  readonly children: ReactNode;
  readonly className?: string;
  /** Choices stay open, so that several can be made. */
  readonly staysOpen?: boolean;
  readonly tabIndex?: number;
}

const edge = 8;

export function Menu({ label, items, children, className, staysOpen = false, tabIndex }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const menu = list.current;
    const from = button.current?.getBoundingClientRect();
    if (!isOpen || menu === null || from === undefined) return undefined;
    // On top of everything, also of what it is in.
    menu.showPopover();
    const { offsetWidth: width, offsetHeight: height } = menu;
    const below = from.bottom + 4;
    const top = below + height > innerHeight - edge ? Math.max(edge, from.top - height - 4) : below;
    menu.style.top = `${top}px`;
    menu.style.left = `${Math.max(edge, Math.min(from.left, innerWidth - width - edge))}px`;
    menu.querySelector<HTMLElement>('button')?.focus();
    const leave = (event: Event): void => {
      const { target } = event;
      if (target instanceof Node && (menu.contains(target) || button.current?.contains(target) === true))
        return;
      setOpen(false);
    };
    document.addEventListener('pointerdown', leave);
    document.addEventListener('scroll', leave, true);
    return () => {
      document.removeEventListener('pointerdown', leave);
      document.removeEventListener('scroll', leave, true);
    };
  }, [isOpen]);

  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  const walk = (event: KeyboardEvent): void => {
    const entries = [...(list.current?.querySelectorAll<HTMLElement>('button') ?? [])];
    const at = entries.findIndex((entry) => entry === document.activeElement);
    const steps: Record<string, number> = {
      ArrowDown: (at + 1) % entries.length,
      ArrowUp: (at - 1 + entries.length) % entries.length,
      Home: 0,
      End: entries.length - 1,
    };
    const next = steps[event.key];
    if (next !== undefined) entries[next]?.focus();
    else if (event.key === 'Escape') close();
    else if (event.key === 'Tab') setOpen(false);
    else if (event.key.length === 1 && event.key !== ' ') {
      const letter = event.key.toLocaleLowerCase();
      const named = (entry: HTMLElement): boolean =>
        entry.textContent.trim().toLocaleLowerCase().startsWith(letter);
      (entries.slice(at + 1).find(named) ?? entries.find(named))?.focus();
    } else return;
    event.stopPropagation();
    if (event.key !== 'Tab') event.preventDefault();
  };

  return (
    <span className="menu-holder">
      <button
        ref={button}
        type="button"
        className={className ?? 'button'}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={label}
        tabIndex={tabIndex}
        onClick={() => setOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen && (
        // Keys go to the entry that has the focus; the list only hands them on.
        <div
          ref={list}
          popover="manual"
          className="menu"
          role="menu"
          aria-label={label}
          tabIndex={-1}
          onKeyDown={walk}
        >
          {(typeof items === 'function' ? items() : items).map((item) => (
            <button
              key={item.id}
              type="button"
              className="menu-item"
              role={item.isChosen === undefined ? 'menuitem' : 'menuitemcheckbox'}
              aria-checked={item.isChosen}
              tabIndex={-1}
              onClick={() => {
                if (!staysOpen) close();
                item.run();
              }}
            >
              {item.icon}
              <span className="grow cut">{item.name}</span>
              {item.isChosen !== undefined && (
                <span className="tick">
                  <Icon name="tick" size={14} />
                </span>
              )}
            </button>
          ))}
        </div>
      )}
    </span>
  );
}
