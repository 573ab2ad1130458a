import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Something that opens below a button: Escape, a click elsewhere and moving on close it. */
export function usePopover(): {
  isOpen: boolean;
  setOpen(isOpen: boolean): void;
  /** Holds the button and what opens. */
  box: RefObject<HTMLDivElement | null>;
  button: RefObject<HTMLButtonElement | null>;
} {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!isOpen) return;
    const away = ({ target }: Event): void => {
      if (target instanceof Node && target.isConnected && box.current?.contains(target) === false) setOpen(false);
    };
    const escape = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener('pointerdown', away);
    document.addEventListener('focusin', away);
    document.addEventListener('keydown', escape);
    return () => {
      document.removeEventListener('pointerdown', away);
      document.removeEventListener('focusin', away);
      document.removeEventListener('keydown', escape);
    };
  }, [isOpen]);

  return { isOpen, setOpen, box, button };
}
