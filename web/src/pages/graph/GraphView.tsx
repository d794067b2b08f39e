// The picture of a neighbourhood: drag moves, the wheel zooms, a click follows, the small numbers unfold what is hidden.
import { useEffect, useMemo, useRef, useState } from 'react';
import { ChartMenu } from '../../charts/ChartFrame';
import { formatShare, middleEllipsis, plural } from '../../format/format';
import { edgePath } from '../../hlo/layout';
import type { Picture } from '../../hlo/protocol';
import { keyHint } from '../../keys/table';
import { useKeys } from '../../keys/useKeys';
import { categoryOf } from '../../theme/tokens';
import { Icon } from '../../ui/Icon';
import { useSize } from '../../ui/useSize';

interface GraphViewProps {
  picture: Picture;
  heat: ReadonlyMap<string, number>; // Share of op time by instruction name.
  onFollow: (name: string) => void;
  onUnfold: (name: string) => void;
  onEnter: (computation: string) => void;
}

interface View {
  readonly x: number; // Of the picture's left edge, px.
  readonly y: number;
  readonly scale: number;
}

const leastScale = 0.1;
const mostScale = 2.5;
const air = 24;
const letters = 31;

function fitView(picture: Picture, width: number, height: number): View {
  const { layout } = picture;
  const scale = Math.min(1, (width - 2 * air) / Math.max(1, layout.width), (height - 2 * air) / Math.max(1, layout.height));
  const readable = Math.max(scale, 0.55);
  if (scale >= 0.55) return { scale, x: (width - layout.width * scale) / 2, y: (height - layout.height * scale) / 2 };
  // Too large to be read as a whole: the centre node stands in the middle.
  const center = layout.nodes.find((node) => picture.graph.nodes.find((one) => one.id === node.id)?.center) ?? layout.nodes[0]!;
  return { scale: readable, x: width / 2 - (center.x + center.width / 2) * readable, y: height / 2 - (center.y + center.height / 2) * readable };
}

export function GraphView({ picture, heat, onFollow, onUnfold, onEnter }: GraphViewProps) {
  const [ref, size] = useSize<HTMLDivElement>({ width: 900, height: 480 });
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const drag = useRef<{ x: number; y: number; from: View; moved: boolean } | null>(null);
  const nodes = useMemo(() => new Map(picture.graph.nodes.map((node) => [node.id, node])), [picture]);
  useEffect(() => setView(fitView(picture, size.width, size.height)), [picture, size.width, size.height]);
  const zoom = (factor: number, px = size.width / 2, py = size.height / 2) =>
    setView((old) => {
      const scale = Math.max(leastScale, Math.min(mostScale, old.scale * factor));
      return { scale, x: px - ((px - old.x) / old.scale) * scale, y: py - ((py - old.y) / old.scale) * scale };
    });
  useKeys({
    'graph.zoom_in': () => zoom(1.25),
    'graph.zoom_out': () => zoom(0.8),
    'graph.fit': () => setView(wholeView(picture, size.width, size.height)),
  });
  const frame = useRef<HTMLDivElement | null>(null);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    // React listens to the wheel passively; the page must not scroll while the picture zooms.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, []);
  const heatMost = Math.max(0, ...picture.graph.nodes.map((node) => heat.get(node.name) ?? 0));
  return (
    <div
      className="graph-view"
      data-chart={`Graph of ${picture.computation}`}
      ref={(element) => {
        frame.current = element;
        ref(element);
      }}
      data-testid="graph"
      onPointerDown={(event) => {
        if (event.button === 0) drag.current = { x: event.clientX, y: event.clientY, from: view, moved: false };
      }}
      onPointerMove={(event) => {
        const from = drag.current;
        if (!from || (event.buttons & 1) === 0) return;
        const dx = event.clientX - from.x;
        const dy = event.clientY - from.y;
        if (!from.moved && Math.hypot(dx, dy) < 4) return;
        if (!from.moved) event.currentTarget.setPointerCapture(event.pointerId);
        from.moved = true;
        setView({ ...from.from, x: from.from.x + dx, y: from.from.y + dy });
      }}
      onPointerUp={() => setTimeout(() => (drag.current = null))}
    >
      <svg width={size.width} height={size.height} role="group" aria-label={`${plural(picture.graph.nodes.length, 'instruction')} of ${picture.computation}`}>
        <defs>
          <marker id="graph-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0,0.5L7.5,4L0,7.5z" className="graph-arrow" />
          </marker>
        </defs>
        <g transform={`translate(${view.x},${view.y}) scale(${view.scale})`}>
          {picture.layout.edges.map((edge) => (
            <path key={`${edge.from}-${edge.to}`} d={edgePath(edge.points)} className={nodes.get(edge.from)?.center || nodes.get(edge.to)?.center ? 'graph-edge near' : 'graph-edge'} markerEnd="url(#graph-arrow)" />
          ))}
          {picture.layout.nodes.map((place) => {
            const node = nodes.get(place.id)!;
            const category = categoryOf(node.opcode);
            const share = heat.get(node.name);
            const follow = () => !drag.current?.moved && onFollow(node.name);
            return (
              <g key={place.id} transform={`translate(${place.x},${place.y})`} className={node.center ? 'graph-node center' : 'graph-node'}>
                <g
                  role="button" tabIndex={0} aria-current={node.center ? 'true' : undefined}
                  onClick={follow}
                  onKeyDown={(event) => {
                    if (event.key !== 'Enter' && event.key !== ' ') return;
                    event.preventDefault();
                    event.stopPropagation();
                    onFollow(node.name);
                  }}
                >
                  <title>{`${node.name}\n${node.opcode} ${node.shape}${node.opName ? `\n${node.opName}` : ''}${node.source ? `\n${node.source}` : ''}${share ? `\n${formatShare(share)} of op time` : ''}`}</title>
                  <rect width={place.width} height={place.height} rx={4} className="graph-box" />
                  <rect width={4} height={place.height} rx={2} fill={`var(--cat-${category.key})`} />
                  {share !== undefined && heatMost > 0 && <rect x={4} y={place.height - 3} width={Math.max(1, (place.width - 8) * (share / heatMost))} height={3} className="graph-heat" />}
                  <text x={12} y={17} className="graph-name">{middleEllipsis(node.name, letters)}</text>
                  <text x={12} y={32} className="graph-sub">
                    {node.root ? 'ROOT ' : ''}
                    {node.opcode}
                    {share !== undefined ? `  ${formatShare(share)}` : `  ${middleEllipsis(node.shape, Math.max(6, Math.floor((place.width - 26) / 6.7) - node.opcode.length - (node.root ? 5 : 0) - 2))}`}
                  </text>
                </g>
                {node.hiddenOperands > 0 && <Badge x={place.width / 2} y={-9} text={`+${node.hiddenOperands}`} label={`Show ${node.hiddenOperands} hidden operands of ${node.name}`} onClick={() => onUnfold(node.name)} />}
                {node.hiddenUsers > 0 && <Badge x={place.width / 2} y={place.height + 9} text={`+${node.hiddenUsers}`} label={`Show ${node.hiddenUsers} hidden users of ${node.name}`} onClick={() => onUnfold(node.name)} />}
                {node.calls.length > 0 && <Badge x={place.width - 16} y={13} text="in" label={`Enter ${node.calls[0]}`} onClick={() => onEnter(node.calls[0]!)} />}
              </g>
            );
          })}
        </g>
      </svg>
      <div className="graph-tools" data-export="leave">
        <ChartMenu frame={frame} title={`Graph of ${picture.computation}`} />
        <button type="button" className="button small square" aria-label={keyHint('graph.zoom_in')} title={keyHint('graph.zoom_in')} onClick={() => zoom(1.25)}>
          +
        </button>
        <button type="button" className="button small square" aria-label={keyHint('graph.zoom_out')} title={keyHint('graph.zoom_out')} onClick={() => zoom(0.8)}>
          {'\u2212'}
        </button>
        <button type="button" className="button small" title={keyHint('graph.fit')} onClick={() => setView(wholeView(picture, size.width, size.height))}>
          Fit
        </button>
      </div>
      {picture.graph.cut && (
        <div className="graph-cut">
          <Icon name="partial" /> Only {plural(picture.graph.nodes.length, 'instruction is', 'instructions are')} shown.
        </div>
      )}
    </div>
  );
}

function wholeView(picture: Picture, width: number, height: number): View {
  const { layout } = picture;
  const scale = Math.max(leastScale, Math.min(1.5, (width - 2 * air) / Math.max(1, layout.width), (height - 2 * air) / Math.max(1, layout.height)));
  return { scale, x: (width - layout.width * scale) / 2, y: (height - layout.height * scale) / 2 };
}

function Badge({ x, y, text, label, onClick }: { x: number; y: number; text: string; label: string; onClick: () => void }) {
  const width = text.length * 7 + 10;
  return (
    <g
      transform={`translate(${x - width / 2},${y - 8})`} className="graph-badge" role="button" tabIndex={0}
      onClick={(event) => {
        event.stopPropagation();
        onClick();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        event.stopPropagation();
        onClick();
      }}
    >
      <title>{label}</title>
      <rect width={width} height={16} rx={8} />
      <text x={width / 2} y={12} textAnchor="middle">
        {text}
      </text>
    </g>
  );
}
