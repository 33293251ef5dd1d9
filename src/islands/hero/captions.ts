/** What happens when, in words. */
export const CAPTIONS: [from: number, text: string][] = [
  [0, 'The server runs. The drone starts its survey 21 m above the ground, at 18 m/s.'],
  [7, 'Each sweep of the lidar adds returns to the point cloud, one track after the other.'],
  [21, 'Half of the area is mapped. The rover keeps to the foreground.'],
  [35, 'The last track follows the valley in front.'],
  [42, 'Survey complete. Every replay is the same, to the last digit: the scene depends on its time alone.'],
]
