#!/bin/sh
# A sweep as a Slurm job array of N parts: `sbatch --array=1-N array.sh N FILE OPTIONS of perhop sweep`.
#
#   sbatch --array=1-4 examples/cluster/array.sh 4 examples/dumbbell.toml --vary dumbbell.flows=5,10,20,40 --replications 20
#
# When it has ended, the same command with --missing=4 prints the parts that have to run again, as --array takes them:
#
#   sweep="examples/dumbbell.toml --vary dumbbell.flows=5,10,20,40 --replications 20"
#   sbatch --array="$(perhop sweep $sweep --missing=4)" examples/cluster/array.sh 4 $sweep
#
# All parts write to the same directory (--out, by default `runs`), so it has to be one that all nodes share.
#SBATCH --job-name=perhop
#SBATCH --cpus-per-task=1
#SBATCH --time=1:00:00
#SBATCH --output=perhop-%A_%a.log
set -eu
parts=$1
shift
exec perhop sweep "$@" --shard "$SLURM_ARRAY_TASK_ID/$parts" --jobs "${SLURM_CPUS_PER_TASK:-1}"
