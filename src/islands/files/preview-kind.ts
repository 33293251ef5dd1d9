export type PreviewKind = 'image' | 'video' | 'drawing' | 'text'

const IMAGES = ['avif', 'bmp', 'gif', 'jpeg', 'jpg', 'png', 'webp']
const VIDEOS = ['m4v', 'mov', 'mp4', 'webm']
/** All text, whatever a browser would do with it: here it is only characters. */
const TEXTS =
  'bash bat c cfg conf cpp css csv env go h hpp htm html ini java js json jsonl jsx kml launch log lua md plan proto py rb rs rst sdf sh sql tex toml ts tsv tsx txt urdf usda world xacro xhtml xml yaml yml'.split(
    ' ',
  )
const NAMES = ['Dockerfile', 'LICENSE', 'Makefile', 'README']

/** More than this, and a browser may need more memory than it has. */
export const MAX_IMAGE = 50_000_000
export const MAX_DRAWING = 1_000_000
/** How much of a text we show. */
export const TEXT_BYTES = 256 * 1024

/** How to show a file in place; null if it can only be downloaded. */
export function previewKind(name: string, size: number): PreviewKind | null {
  const ending = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : ''
  if (IMAGES.includes(ending)) return size <= MAX_IMAGE ? 'image' : null
  if (ending === 'svg') return size <= MAX_DRAWING ? 'drawing' : 'text'
  if (VIDEOS.includes(ending)) return 'video'
  return TEXTS.includes(ending) || NAMES.includes(name) ? 'text' : null
}
