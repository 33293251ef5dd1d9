CREATE TABLE `environments` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`image` text,
	`plans` text NOT NULL,
	`user_id` text,
	`position` integer NOT NULL,
	`created_at` integer NOT NULL,
	`retired_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_environment_per_name` ON `environments` ((CASE WHEN user_id IS NULL THEN '' ELSE user_id END),lower(name)) WHERE retired_at IS NULL;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `environment` text;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `image` text;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `vehicle` text;--> statement-breakpoint
INSERT INTO `environments` (`id`, `name`, `description`, `plans`, `position`, `created_at`) VALUES
	('env_blocks', 'Blocks', 'Boxes and an arch on a level floor.', '["demo","basic","premium","enterprise"]', 1, 1795478400000),
	('env_neighborhood', 'Neighborhood', 'Streets with houses, trees, and parked cars.', '["demo","basic","premium","enterprise"]', 2, 1795478400000),
	('env_mountains', 'Mountains', 'Rough ground with steep hills and pines.', '["demo","basic","premium","enterprise"]', 3, 1795478400000);
