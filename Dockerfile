# A Debian with all that ./run.sh needs, and an ordinary user:
#
#     docker build --tag stagewise . && docker run --rm --interactive --tty stagewise
#
# It has not been built where Stagewise is developed.
FROM debian:trixie
COPY run.sh CMakePresets.json /tmp/stagewise/
COPY cuda_on_cpu/try.sh /tmp/stagewise/cuda_on_cpu/
COPY exercises/exercise.py /tmp/stagewise/exercises/
RUN /tmp/stagewise/run.sh install && rm -rf /var/lib/apt/lists/* /tmp/stagewise && useradd --create-home learner
COPY --chown=learner . /home/learner/stagewise
USER learner
WORKDIR /home/learner/stagewise
CMD ["./run.sh"]
