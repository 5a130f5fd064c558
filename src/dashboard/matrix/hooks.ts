/** What the matrix asks of the browser: its size, the theme, zooming by wheel, and painting once per frame. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { readTheme, type Theme } from './draw.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export function useSize(element: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useEffect(() => {
    const measured = element.current as HTMLElement;
    const observer = new ResizeObserver(() => setSize({ width: measured.clientWidth, height: measured.clientHeight }));
    observer.observe(measured);
    return () => observer.disconnect();
  }, []);
  return size;
}

/** Read again when the browser turns dark or light. */
export function useTheme(element: RefObject<HTMLElement | null>): Theme | undefined {
  const [theme, setTheme] = useState<Theme | undefined>(undefined);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const read = (): void => setTheme(readTheme(element.current as HTMLElement));
    read();
    dark.addEventListener('change', read);
    return () => dark.removeEventListener('change', read);
  }, []);
  return theme;
}

/** Ctrl and the wheel zoom the matrix, not the page. */
export function useWheelZoom(element: RefObject<HTMLElement | null>, zoom: (by: number) => void): void {
  useEffect(() => {
    const zoomed = element.current as HTMLElement;
    const wheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1 : -1);
    };
    zoomed.addEventListener('wheel', wheel, { passive: false });
    return () => zoomed.removeEventListener('wheel', wheel);
  }, [zoom]);
}

/** Paints after every render; the function it returns paints again, at most once per frame. */
export function usePainting(
  canvas: RefObject<HTMLCanvasElement | null>,
  { height, width }: Size,
  paint: (context: CanvasRenderingContext2D) => void,
): () => void {
  const scene = useRef<() => void>(() => {});
  const frame = useRef(0);
  useLayoutEffect(() => {
    scene.current = () => {
      const element = canvas.current;
      const context = element?.getContext('2d', { alpha: false });
      if (element === null || !context || width === 0) return;
      const ratio = window.devicePixelRatio || 1;
      const pixels = { width: Math.round(width * ratio), height: Math.round(height * ratio) };
      if (element.width !== pixels.width) element.width = pixels.width;
      if (element.height !== pixels.height) element.height = pixels.height;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      paint(context);
    };
    scene.current();
  });
  return () => {
    if (frame.current !== 0) return;
    frame.current = requestAnimationFrame(() => {
      frame.current = 0;
      scene.current();
    });
  };
}
