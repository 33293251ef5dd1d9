/** The transcript of the survey. */
export const CAPTIONS: [from: number, text: string][] = [
  [0, 'The server is up. The drone starts its survey, 21 m above ground at 18 m/s.'],
  [7, 'Track by track, each lidar sweep adds returns to the point cloud.'],
  [21, 'Half the area is mapped. The rover holds its line below.'],
  [35, 'The last track follows the near valley.'],
  [42, 'Survey complete. Run it again and get exactly the same result.'],
]
